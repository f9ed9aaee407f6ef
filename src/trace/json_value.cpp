#include "trace/json_value.hpp"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "io/code_points.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

std::optional<std::uint32_t> hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
  if (error != std::errc{} || end != text.data() + at + 4) return std::nullopt;
  return code;
}

bool is_high_surrogate(std::uint32_t code) { return code >= 0xD800 && code < 0xDC00; }
bool is_low_surrogate(std::uint32_t code) { return code >= 0xDC00 && code < 0xE000; }

// Resolves the escape whose backslash is at `at`; returns the position after it.
std::size_t append_escape(std::string& out, std::string_view raw, std::size_t at) {
  if (at + 1 >= raw.size()) return raw.size();
  const char kind = raw[at + 1];
  constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
  if (const auto i = kFrom.find(kind); i != std::string_view::npos) {
    out.push_back(kTo[i]);
    return at + 2;
  }
  const auto code = kind == 'u' ? hex4(raw, at + 2) : std::nullopt;
  if (!code) {  // an unknown escape stands for itself
    out.push_back(kind);
    return at + 2;
  }
  if (is_high_surrogate(*code) && raw.substr(at + 6, 2) == "\\u")
    if (const auto low = hex4(raw, at + 8); low && is_low_surrogate(*low)) {
      io::append_utf8(out, 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00));
      return at + 12;
    }
  if (is_high_surrogate(*code) || is_low_surrogate(*code))
    out += kReplacement;
  else
    io::append_utf8(out, *code);
  return at + 6;
}

// A value under construction: a container and, for dicts, the key that waits for its value.
struct Open {
  bool is_dict = false;
  std::vector<std::string> keys;
  std::vector<Value> items;
  std::string pending_key;

  void add(Value value) {
    if (!is_dict) return items.push_back(std::move(value));
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (keys[i] == pending_key) {  // the last of equal keys wins
        items[i] = std::move(value);
        return;
      }
    keys.push_back(std::move(pending_key));
    items.push_back(std::move(value));
  }
  Value close() {
    return is_dict ? Value::dict(std::move(keys), std::move(items))
                   : Value::tuple(std::move(items));
  }
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_{text} {}

  std::optional<Value> run() {
    std::vector<Open> open;
    for (;;) {
      skip_space();
      if (at_ == text_.size()) return std::nullopt;
      std::optional<Value> done;
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        if (open.size() >= static_cast<std::size_t>(kMaxJsonDepth)) return std::nullopt;
        ++at_;
        open.push_back({.is_dict = c == '{', .keys = {}, .items = {}, .pending_key = {}});
        if (!close_or_key(open, done)) return std::nullopt;
      } else {
        done = scalar();
        if (!done) return std::nullopt;
      }
      while (done) {  // hand the finished value to the container around it
        if (open.empty()) {
          skip_space();
          return at_ == text_.size() ? done : std::nullopt;
        }
        open.back().add(std::move(*done));
        done.reset();
        skip_space();
        if (at_ < text_.size() && text_[at_] == ',') {
          ++at_;
        } else if (at_ == text_.size() || text_[at_] != closer(open.back())) {
          return std::nullopt;
        }
        if (!close_or_key(open, done)) return std::nullopt;
      }
    }
  }

 private:
  static char closer(const Open& container) { return container.is_dict ? '}' : ']'; }

  // Inside a container: either it closes here (its value goes to `done`) or, in a dict, a key and
  // its colon follow. False on anything else.
  bool close_or_key(std::vector<Open>& open, std::optional<Value>& done) {
    skip_space();
    if (at_ == text_.size()) return false;
    if (text_[at_] == closer(open.back())) {
      ++at_;
      done = open.back().close();
      open.pop_back();
      return true;
    }
    if (!open.back().is_dict) return true;
    auto key = string();
    skip_space();
    if (!key || at_ == text_.size() || text_[at_] != ':') return false;
    ++at_;
    open.back().pending_key = std::move(*key);
    return true;
  }

  std::optional<std::string> string() {
    if (text_[at_] != '"') return std::nullopt;
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return std::nullopt;
    auto result = unescape_json(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }

  std::optional<Value> scalar() {
    if (text_[at_] == '"') {
      auto text = string();
      return text ? std::optional<Value>{std::move(*text)} : std::nullopt;
    }
    std::size_t end = at_;
    while (end < text_.size() && !std::isspace(static_cast<unsigned char>(text_[end])) &&
           text_[end] != ',' && text_[end] != ']' && text_[end] != '}')
      ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (word == "null") return Value{};
    if (word == "true") return Value{true};
    if (word == "false") return Value{false};
    return number(word);
  }

  static std::optional<Value> number(std::string_view word) {
    const char* const begin = word.data();
    const char* const end = begin + word.size();
    std::int64_t integer = 0;
    if (const auto [stop, error] = std::from_chars(begin, end, integer);
        error == std::errc{} && stop == end)
      return Value{integer};
    double real = 0;  // from_chars also knows inf, nan and infinity, in any case
    const auto [stop, error] = std::from_chars(begin, end, real);
    if (stop != end || word.empty()) return std::nullopt;
    if (error == std::errc::result_out_of_range)
      real = word[0] == '-' ? -std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::infinity();
    return Value{real};
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string unescape_json(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] == '\\') {
      at = append_escape(out, raw, at);
      continue;
    }
    const std::size_t start = at;
    if (io::next_code_point(raw, at).valid)
      out.append(raw, start, at - start);
    else
      out += kReplacement;
  }
  return out;
}

bool is_plain_json_text(std::string_view raw) {
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] == '\\' || !io::next_code_point(raw, at).valid) return false;
  }
  return true;
}

std::string canonical_text(const Value& root) {
  std::string text;
  struct Step {
    const Value* value;
    std::size_t next;
  };
  std::vector<Step> steps{{&root, 0}};
  while (!steps.empty()) {
    Step& step = steps.back();
    const Value& value = *step.value;
    if (step.next == 0) {
      const auto kind = static_cast<int>(value.kind());
      switch (value.kind()) {
        case Value::Kind::kBool:
        case Value::Kind::kInt:
          fmt::format_to(std::back_inserter(text), "{}:{};", kind,
                         value.kind() == Value::Kind::kBool ? value.as_bool() : value.as_int());
          break;
        case Value::Kind::kReal:
          fmt::format_to(std::back_inserter(text), "{}:{:x};", kind,
                         std::bit_cast<std::uint64_t>(value.as_real()));
          break;
        case Value::Kind::kText:
          fmt::format_to(std::back_inserter(text), "{}:{}:{};", kind, value.as_text().size(),
                         value.as_text());
          break;
        default:
          fmt::format_to(std::back_inserter(text), "{}({};", kind, value.items().size());
      }
    }
    if (step.next == value.items().size()) {
      steps.pop_back();
      continue;
    }
    const std::size_t i = step.next++;
    if (!value.keys().empty())
      fmt::format_to(std::back_inserter(text), "{}:{}=", value.keys()[i].size(), value.keys()[i]);
    steps.push_back({&value.items()[i], 0});
  }
  return text;
}

std::optional<Value> parse_json_value(std::string_view text) { return Parser{text}.run(); }

}  // namespace tracelens
