// As much of YAML as such lists are written in, for which no library is worth its weight: keys, plain and
// quoted texts, lists in brackets or behind dashes, maps in braces or by lines, comments.
#include "readers/database/package_list.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <system_error>
#include <tracelens/error.hpp>
#include <unordered_set>
#include <utility>

namespace tracelens {
namespace {

namespace fs = std::filesystem;

struct YamlWord {
  enum class Kind : std::uint8_t { kKey, kText, kDash, kSign } kind;
  std::string text;
};

class YamlWords {
 public:
  explicit YamlWords(std::string_view text) : text_{text} {}

  std::vector<YamlWord> all() && {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        is_line_start_ = true;
        is_value_ = false;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '#' && is_apart()) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '-' && is_line_start_ && is_blank(at_ + 1)) {
        words_.push_back({YamlWord::Kind::kDash, {}});
        ++at_;
      } else if (is_sign(c)) {
        add_sign(c);
      } else {
        const bool is_quoted = c == '"' || c == '\'';
        add_text(is_quoted ? quoted(c) : plain(), is_quoted);
      }
    }
    return std::move(words_);
  }

 private:
  [[nodiscard]] bool is_blank(std::size_t at) const {
    return at >= text_.size() || text_[at] == ' ' || text_[at] == '\n' || text_[at] == '\r' ||
           text_[at] == '\t';
  }
  [[nodiscard]] bool is_apart() const { return at_ == 0 || is_blank(at_ - 1); }
  [[nodiscard]] bool is_sign(char c) const {
    return c == '[' || c == '{' || (depth_ > 0 && (c == ']' || c == '}' || c == ','));
  }
  void add_sign(char c) {
    if (c == '[' || c == '{') ++depth_;
    if (c == ']' || c == '}') --depth_;
    words_.push_back({YamlWord::Kind::kSign, {c}});
    is_line_start_ = is_value_ = false;
    ++at_;
  }
  std::string quoted(char quote) {
    std::string text;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      text += text_[at_];
    }
    if (at_ < text_.size()) ++at_;  // the file may end before the quote does
    return text;
  }
  // Brackets inside a name are a pattern's.
  std::string plain() {
    const std::size_t from = at_;
    int brackets = 0;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      const char c = text_[at_];
      if (c == '#' && is_apart()) break;
      if (c == ':' && ends_key(at_)) break;
      if (c == '[') ++brackets;
      if (c == ']' && brackets > 0) {
        --brackets;
        continue;
      }
      if (depth_ > 0 && brackets == 0 && (c == ',' || c == ']' || c == '}')) break;
    }
    std::string_view text = text_.substr(from, at_ - from);
    text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
    return std::string{text};
  }
  // A colon ends a key, but in a value that goes to the end of its line.
  [[nodiscard]] bool ends_key(std::size_t at) const {
    return is_blank(at + 1) && !(is_value_ && depth_ == 0);
  }
  void add_text(std::string text, bool is_quoted) {
    std::size_t next = at_;
    while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\t')) ++next;
    const bool is_key = next < text_.size() && text_[next] == ':' &&
                        (is_quoted || ends_key(next)) && !(is_value_ && depth_ == 0);
    if (is_key) at_ = next + 1;
    words_.push_back({is_key ? YamlWord::Kind::kKey : YamlWord::Kind::kText, std::move(text)});
    is_line_start_ = false;
    is_value_ = is_key;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;  // of brackets and braces
  bool is_line_start_ = true, is_value_ = false;
  std::vector<YamlWord> words_;
};

using Words = std::vector<YamlWord>;

Words::const_iterator key_in(const Words& words, Words::const_iterator from, std::string_view key) {
  return std::find_if(from, words.end(), [key](const YamlWord& word) {
    return word.kind == YamlWord::Kind::kKey && word.text == key;
  });
}

// Behind a key: one text, those in brackets, or those behind dashes.
std::vector<std::string> values_of(const Words& words, Words::const_iterator key) {
  std::vector<std::string> values;
  if (key == words.end() || ++key == words.end()) return values;
  if (key->kind == YamlWord::Kind::kText) return {key->text};
  const bool in_brackets = key->kind == YamlWord::Kind::kSign && key->text == "[";
  if (in_brackets) ++key;
  for (; key != words.end(); ++key) {
    if (key->kind == YamlWord::Kind::kKey) break;
    if (key->kind == YamlWord::Kind::kSign && (!in_brackets || key->text != ",")) break;
    if (key->kind == YamlWord::Kind::kText) values.push_back(key->text);
  }
  return values;
}

bool is_pattern(const std::string& name) { return name.find_first_of("*?[") != name.npos; }

// The files whose paths fit patterns. What one list may have looked at is limited, whatever its patterns.
class MatchingFiles {
 public:
  explicit MatchingFiles(std::string list) : list_{std::move(list)} {}

  // In order.
  std::vector<std::string> find(const fs::path& folder, const std::string& pattern) {
    const fs::path below{pattern};
    const fs::path parts = below.relative_path();
    bool is_behind_pattern = false;
    for (const fs::path& part : parts) {
      // The way back from what a pattern found leads through the same folders again and again.
      if (is_behind_pattern && part == "..")
        throw Error{list_, "expected no .. behind a pattern, found " + pattern};
      is_behind_pattern = is_behind_pattern || is_pattern(part.string());
    }
    found_.clear();
    add(below.is_absolute() ? below.root_path() : folder, parts.begin(), parts.end());
    std::ranges::sort(found_);
    return std::move(found_);
  }

 private:
  void add(const fs::path& folder, fs::path::const_iterator part, fs::path::const_iterator end) {
    if (part == end) {
      found_.push_back(folder.string());
      return;
    }
    const std::string name = part->string();
    const auto next = std::next(part);
    std::error_code error;
    if (!is_pattern(name)) {
      if (fs::exists(folder / name, error)) add(folder / name, next, end);
      return;
    }
    for (const auto& entry : fs::directory_iterator{folder, error}) {
      if (++looked_at_ > kMostEntries)
        throw Error{list_, "too many files to look through; expected narrower patterns"};
      if (::fnmatch(name.c_str(), entry.path().filename().c_str(), FNM_PERIOD) == 0)
        add(entry.path(), next, end);
    }
  }

  static constexpr std::size_t kMostEntries = 100'000;
  std::string list_;
  std::size_t looked_at_ = 0;
  std::vector<std::string> found_;
};

}  // namespace

bool is_package_list(std::string_view head) {
  for (const std::string_view word : {"rocprofiler-sdk", "rocpd", "files"})
    if (head.find(word) == head.npos) return false;
  const Words words = YamlWords{head}.all();
  const auto sdk = key_in(words, words.begin(), "rocprofiler-sdk");
  return key_in(words, key_in(words, sdk, "rocpd"), "files") != words.end();
}

PackageList package_list(std::string_view text) {
  const Words words = YamlWords{text}.all();
  const auto rocpd = key_in(words, key_in(words, words.begin(), "rocprofiler-sdk"), "rocpd");
  PackageList list;
  if (const auto path = values_of(words, key_in(words, rocpd, "path"));
      !path.empty() && !path.front().empty())
    list.folder = path.front();
  list.files = values_of(words, key_in(words, rocpd, "files"));
  std::erase(list.files, std::string{});
  return list;
}

std::vector<std::string> listed_files(const PackageList& list, const fs::path& folder,
                                      const std::string& where) {
  MatchingFiles matching{where};
  std::unordered_set<std::string> names;
  std::vector<std::string> paths;
  for (const std::string& name : list.files) {
    if (!names.insert(name).second) continue;
    if (!is_pattern(name)) {
      paths.push_back((folder / list.folder / name).string());
      continue;
    }
    const std::vector<std::string> found = matching.find(folder / list.folder, name);
    paths.insert(paths.end(), found.begin(), found.end());
  }
  return paths;
}

}  // namespace tracelens
