#include "table/markup.hpp"

#include <algorithm>
#include <cctype>

#include "table/utf8.hpp"

namespace tracelens {
namespace {

bool is_word(std::string_view text, std::size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

// Whether Markdown would take the character for more than itself.
bool is_markdown(std::string_view text, std::size_t at) {
  const std::string_view after = text.substr(at + 1), before = text.substr(0, at);
  switch (text[at]) {
    case '_':                                                    // markup at the edge of a word
      return !(is_word(text, at - 1) && is_word(text, at + 1));  // 0 - 1 is past the end
    case ']':                                                    // [text](address), [text][name]
      return after.starts_with('(') || after.starts_with('[') || after.starts_with(':');
    case ':':  // https://... is a link by itself, as is www.
      return after.starts_with("//");
    case '.':
      return before.ends_with("www") || before.ends_with("WWW");
    case '&':  // &lt;
      return after.starts_with('#') || is_word(after, 0);
    case '#':  // the number of an issue
      return is_word(after, 0);
    default:
      return std::string_view{"\\`*<|~$@"}.find(text[at]) != std::string_view::npos;
  }
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  while (true) {
    const std::size_t plain = std::min(text.find_first_of("&<>\""), text.size());
    out.append(text.substr(0, plain));
    if (plain == text.size()) return;
    switch (text[plain]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += "&quot;";
    }
    text.remove_prefix(plain + 1);
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

void append_markup(std::string& out, std::string_view text) {
  append_escaped(out, single_line(text));
}

void append_markdown(std::string& out, std::string_view raw) {
  const std::string text = single_line(raw);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_markdown(text, i)) out.push_back('\\');
    out.push_back(text[i]);
  }
}

std::string as_markdown(std::string_view text) {
  std::string out;
  append_markdown(out, text);
  return out;
}

std::string as_markup(std::string_view text) {
  std::string out;
  append_markup(out, text);
  return out;
}

}  // namespace tracelens
