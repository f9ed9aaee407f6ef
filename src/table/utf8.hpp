// utf8.hpp: the little Unicode that printing a table needs.
//   for (std::size_t at = 0; at < text.size();) {
//     const CodePoint point = next_code_point(text, at);   // moves `at` on
//     columns += display_width(point.value);
//   }
// Text comes from traces and may be any bytes: a byte that is not UTF-8 is one invalid code point.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracelens {

struct CodePoint {
  char32_t value;  // the byte itself when not valid
  bool valid;
};

// The same as next_code_point(), for a code point of more than one byte.
[[nodiscard]] CodePoint next_long_code_point(std::string_view text, std::size_t& at);

// Reads the code point at `at` and moves `at` behind it. `at` must be inside `text`.
[[nodiscard]] inline CodePoint next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte >= 0x80) return next_long_code_point(text, at);
  ++at;
  return {byte, true};
}

void append_utf8(std::string& out, char32_t point);

// Columns a terminal uses: 0 for combining marks and controls, 2 for East Asian wide and emoji.
[[nodiscard]] std::size_t display_width(char32_t point);
[[nodiscard]] std::size_t display_width(std::string_view text);

// Whether Python prints it verbatim inside a repr: not a control, format, surrogate, private-use
// or separator character other than the space. Code points Unicode has not assigned are taken as
// printable, since that set changes with every Unicode version.
[[nodiscard]] bool is_printable(char32_t point);

// The text with every invalid byte replaced by U+FFFD; no copy is made when there is none.
class ValidUtf8 {
 public:
  explicit ValidUtf8(std::string_view text);
  ValidUtf8(const ValidUtf8&) = delete;
  ValidUtf8& operator=(const ValidUtf8&) = delete;
  [[nodiscard]] std::string_view view() const { return view_; }

 private:
  std::string repaired_;
  std::string_view view_;
};

// The text on one line and safe to show: line breaks and tabs become spaces, whatever else does not
// print (a terminal's escape codes among it) becomes U+FFFD.
[[nodiscard]] std::string single_line(std::string_view text);

// At most `columns` wide, cut between code points; what is cut off is shown as "…".
[[nodiscard]] std::string shorten(std::string_view text, std::size_t columns);
// The same, but cut in the middle: the head and the tail of kernel names tell them apart.
[[nodiscard]] std::string shorten_middle(std::string_view text, std::size_t columns);

}  // namespace tracelens
