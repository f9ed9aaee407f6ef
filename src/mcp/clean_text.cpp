#include "mcp/clean_text.hpp"

#include <algorithm>
#include <functional>

#include "io/code_points.hpp"
#include "table/utf8.hpp"

namespace tracelens::mcp {
namespace {

bool is_space(char32_t point) {
  return point == ' ' || (point >= '\t' && point <= '\r') || point == 0x85 || point == 0xA0 ||
         point == 0x1680 || (point >= 0x2000 && point <= 0x200A) || point == 0x2028 ||
         point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

// What a reader does not see, and a model reads all the same.
bool is_hidden(char32_t point) {
  return point == 0xAD || point == 0x34F || point == 0x61C || point == 0x115F || point == 0x1160 ||
         (point >= 0x17B4 && point <= 0x17B5) || (point >= 0x180B && point <= 0x180F) ||
         (point >= 0x200B && point <= 0x200F) || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2060 && point <= 0x206F) || point == 0x3164 ||
         (point >= 0xFE00 && point <= 0xFE0F) || point == 0xFEFF || point == 0xFFA0 ||
         (point >= 0xFFF0 && point <= 0xFFFB) || (point >= 0xE0000 && point <= 0xE0FFF);
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  for (std::size_t at = 0; at < text.size() && clean.size() < kLongestName;) {
    const io::CodePoint point = io::next_code_point(text, at);
    if (!point.valid || is_hidden(point.value)) continue;
    if (is_space(point.value)) {
      clean += ' ';
    } else if (point.value >= 0x20 && (point.value < 0x7F || point.value > 0x9F) &&
               (point.value == 0xFFFD || is_printable(point.value))) {
      io::append_utf8(clean, point.value);
    }
  }
  return clean;
}

std::string shortened(std::string_view text, std::size_t characters) {
  return text.size() <= characters ? std::string{text} : shorten_middle(text, characters);
}

std::string quoted_cell(std::string_view clean) {
  if (clean.empty()) return {};
  std::string cell = "`";
  for (const char c : clean) {
    if (c == '`')
      cell += '\'';
    else if (c == '|')
      cell += "¦";
    else
      cell += c;
  }
  return cell + '`';
}

std::string in_quotes(std::string_view text) {
  return quoted_cell(shortened(clean_text(text), kQuotedInSentence));
}

namespace {

// Whether a bracket may begin or end a tag, or begin a quotation; "a > 5%" does neither.
bool is_markup(std::string_view text, std::size_t at) {
  if (text[at] == '<') return at + 1 < text.size() && text[at + 1] != ' ' && text[at + 1] != '=';
  return at == 0 || text[at - 1] != ' ';
}

}  // namespace

std::string clean_sentence(std::string_view text) {
  const std::string clean = shortened(clean_text(text), kLongestSentence);
  std::string sentence;
  for (std::size_t at = 0; at < clean.size(); ++at) {
    const char c = clean[at];
    if (c == '`')
      sentence += '\'';
    else if (c == '|')
      sentence += "¦";
    else if ((c == '<' || c == '>') && is_markup(clean, at))
      sentence += c == '<' ? "‹" : "›";
    else
      sentence += c;
  }
  return sentence;
}

std::string quoted_note(std::string_view text) {
  constexpr std::size_t kLongestNote = 240;
  return quoted_cell(shortened(clean_text(text), kLongestNote));
}

std::string with_quoted_names(std::string_view sentence, std::vector<std::string> names) {
  std::erase(names, std::string{});
  std::ranges::sort(names, std::ranges::greater{}, &std::string::size);  // the longest first
  std::string text;
  while (!sentence.empty()) {
    // The name that comes first; of those in one place the longest.
    std::size_t first = sentence.size();
    const std::string* found = nullptr;
    for (const std::string& name : names)
      if (const std::size_t at = sentence.find(name); at < first) {
        first = at;
        found = &name;
      }
    text += clean_sentence(sentence.substr(0, first));
    if (found == nullptr) break;
    text += in_quotes(*found);
    sentence.remove_prefix(first + found->size());
  }
  return text;
}

}  // namespace tracelens::mcp
