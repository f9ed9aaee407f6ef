#include "table/markup.hpp"

#include "table/utf8.hpp"

namespace tracelens {

void append_markup(std::string& out, std::string_view text) {
  for (const char c : single_line(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out.push_back(c);
    }
  }
}

std::string as_markup(std::string_view text) {
  std::string out;
  append_markup(out, text);
  return out;
}

}  // namespace tracelens
