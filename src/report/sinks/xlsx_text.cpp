#include "report/sinks/xlsx_text.hpp"

#include "report/sinks/unique_names.hpp"
#include "table/utf8.hpp"

namespace tracelens {

std::string sheet_text(std::string_view text, std::size_t limit) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    // What nearly all text is goes as it is.
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= ' ' && text[at] <= '~') ++at;
    out.append(text, begin, at - begin);
    if (at == text.size()) break;
    const CodePoint point = next_code_point(text, at);
    const bool control = point.value < 0x20 && point.value != '\n' && point.value != '\t';
    const bool nonchar = point.value == 0xFFFE || point.value == 0xFFFF;
    if (!control && !nonchar) append_utf8(out, point.valid ? point.value : 0xFFFD);
  }
  out.resize(cut_utf16(out, limit).size());
  return out;
}

std::string cell_text(std::string_view text) {
  constexpr std::string_view kMark = " ... [cut: longer than a cell holds]";
  std::string out = sheet_text(text, kMaxCellText + 1);
  if (cut_utf16(out, kMaxCellText).size() == out.size()) return out;
  return std::string{cut_utf16(out, kMaxCellText - kMark.size())}.append(kMark);
}

}  // namespace tracelens
