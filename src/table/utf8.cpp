// utf8.cpp: widths and shortening of UTF-8 text.
#include "table/utf8.hpp"

#include <algorithm>
#include <iterator>

#include "io/ascii.hpp"

namespace tracelens {
namespace {

struct Range {
  char32_t first, last;
};

template <std::size_t N>
bool contains(const Range (&ranges)[N], char32_t point) {
  const auto* range = std::ranges::lower_bound(ranges, point, {}, &Range::last);
  return range != std::end(ranges) && range->first <= point;
}

// General categories Cc, Cf, Cs, Co, Zl, Zp, Zs (less the space) and the noncharacters.
constexpr Range kNotPrintable[] = {
    {0x0000, 0x001F},   {0x007F, 0x00A0},   {0x00AD, 0x00AD},    {0x0600, 0x0605},
    {0x061C, 0x061C},   {0x06DD, 0x06DD},   {0x070F, 0x070F},    {0x0890, 0x0891},
    {0x08E2, 0x08E2},   {0x1680, 0x1680},   {0x180E, 0x180E},    {0x2000, 0x200F},
    {0x2028, 0x202F},   {0x205F, 0x206F},   {0x3000, 0x3000},    {0xD800, 0xF8FF},
    {0xFDD0, 0xFDEF},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},    {0xFFFE, 0xFFFF},
    {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F},  {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0xE0000, 0xE007F}, {0xF0000, 0x10FFFF},
};

// Combining marks and invisible characters as terminals draw them, the common blocks.
constexpr Range kZeroWidth[] = {
    {0x0000, 0x001F}, {0x007F, 0x009F}, {0x0300, 0x036F}, {0x0483, 0x0489},   {0x0591, 0x05BD},
    {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},   {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x2064},   {0x20D0, 0x20FF},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF},
};

constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF},
    {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

// Bytes of the longest head that is at most `columns` wide.
std::size_t head_bytes(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t next = at;
    const std::size_t width = display_width(next_code_point(text, next).value);
    if (width > columns) break;
    columns -= width;
    at = next;
  }
  return at;
}

// Start of the longest tail that is at most `columns` wide.
std::size_t tail_start(std::string_view text, std::size_t columns) {
  std::size_t excess = display_width(text), at = 0;
  excess -= std::min(excess, columns);
  while (excess > 0 && at < text.size())
    excess -= std::min(excess, display_width(next_code_point(text, at).value));
  return at;
}

// As it may stand on a line.
void append_printed(std::string& out, CodePoint point) {
  const bool blank = point.value == '\n' || point.value == '\r' || point.value == '\t';
  const bool shown = point.valid && is_printable(point.value);
  append_utf8(out, blank ? U' ' : shown ? point.value : 0xFFFD);
}

// What CI systems take for a command in the output of a job: "::error::" where a line begins, behind
// white space too; "##[error]" and "##vso[" anywhere in it.
bool begins_ci_command(std::string_view text, bool is_line_start) {
  if (text.starts_with("::")) return is_line_start;
  if (!text.starts_with("##")) return false;
  const std::size_t word_end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", 2);
  return word_end != std::string_view::npos && text[word_end] == '[';
}

// Bytes of the code for a colour or a weight (ESC [ 1 ; 31 m) that the text begins with; 0: none.
std::size_t colour_code(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

std::size_t display_width(char32_t point) {
  if (point >= 0x20 && point < 0x7F) return 1;
  if (contains(kZeroWidth, point)) return 0;
  return contains(kWide, point) ? 2 : 1;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();)
    width += display_width(next_code_point(text, at).value);
  return width;
}

bool is_printable(char32_t point) {
  if (point >= 0x20 && point < 0x7F) return true;
  return !contains(kNotPrintable, point);
}

ValidUtf8::ValidUtf8(std::string_view text) : view_{text} {
  std::size_t copied = 0;  // bytes of `text` that are in repaired_ already
  for (std::size_t at = io::ascii_length(text); at < text.size();) {
    const std::size_t start = at;
    if (next_code_point(text, at).valid) continue;
    repaired_.append(text, copied, start - copied);
    append_utf8(repaired_, 0xFFFD);
    copied = at;
  }
  if (copied == 0) return;
  repaired_.append(text, copied);
  view_ = repaired_;
}

std::string single_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) append_printed(out, next_code_point(text, at));
  return out;
}

std::string printed_lines(std::string_view text, ColourCodes colours) {
  std::string out;
  out.reserve(text.size());
  bool is_line_start = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t code = colours == ColourCodes::kKeep ? colour_code(text.substr(at)) : 0;
    if (code > 0 || text[at] == '\n') {
      is_line_start |= code == 0;
      out.append(text, at, std::max<std::size_t>(code, 1));
      at += std::max<std::size_t>(code, 1);
    } else if (begins_ci_command(text.substr(at), is_line_start)) {
      out += text[at];
      append_utf8(out, 0xFFFD);
      at += 2;
    } else {
      append_printed(out, next_code_point(text, at));
      is_line_start = is_line_start && out.back() == ' ';
    }
  }
  return out;
}

std::string shorten(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string{text};
  if (columns == 0) return {};
  return std::string{text.substr(0, head_bytes(text, columns - 1))}.append(kEllipsis);
}

std::string shorten_middle(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string{text};
  if (columns == 0) return {};
  const std::size_t tail = (columns - 1) / 3;  // the head says more
  std::string out{text.substr(0, head_bytes(text, columns - 1 - tail))};
  return out.append(kEllipsis).append(text.substr(tail_start(text, tail)));
}

}  // namespace tracelens
