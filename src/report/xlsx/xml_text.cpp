#include "report/xlsx/xml_text.hpp"

#include <algorithm>

#include "table/markup.hpp"

namespace tracelens::xlsx {
namespace {

constexpr std::string_view kCode = "_x0041_";  // what the code of a character looks like

bool is_code(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  return text.size() >= kCode.size() && text.starts_with("_x") && text[6] == '_' &&
         std::ranges::all_of(text.substr(2, 4),
                             [&](char c) { return kHex.find(c) != std::string_view::npos; });
}

void append_text_element(std::string& out, std::string_view text) {
  constexpr std::string_view kSpace = " \n\t";
  const bool keeps_space =
      !text.empty() && (kSpace.find(text.front()) != kSpace.npos ||
                        kSpace.find(text.back()) != kSpace.npos || text.find('\n') != text.npos);
  out += keeps_space ? "<t xml:space=\"preserve\">" : "<t>";
  append_escaped(out, text);
  out += "</t>";
}

}  // namespace

void append_cell_text(std::string& out, std::string_view text) {
  std::size_t copied = 0;
  for (std::size_t at = text.find("_x"); at != text.npos; at = text.find("_x", at + 1)) {
    if (!is_code(text.substr(at))) continue;
    out += "<r>";
    append_text_element(out, text.substr(copied, at + 1 - copied));
    out += "</r>";
    copied = at + 1;
  }
  if (copied > 0) out += "<r>";
  append_text_element(out, text.substr(copied));
  if (copied > 0) out += "</r>";
}

std::string column_letters(std::size_t column) {
  std::string letters;
  for (std::size_t rest = column + 1; rest > 0; rest = (rest - 1) / 26)
    letters.insert(letters.begin(), static_cast<char>('A' + (rest - 1) % 26));
  return letters;
}

}  // namespace tracelens::xlsx
