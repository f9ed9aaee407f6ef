// utf8.hpp: the little Unicode that printing a table needs.
//   const std::string cell = shorten_middle(single_line(name), 40);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tracelens/printed_text.hpp>

#include "io/code_points.hpp"

namespace tracelens {

using io::append_utf8;
using io::CodePoint;
using io::next_code_point;

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

// What stands for a part that was cut out.
inline constexpr std::string_view kEllipsis = "…";

// At most `columns` wide, cut between code points; what is cut off is shown as "…".
[[nodiscard]] std::string shorten(std::string_view text, std::size_t columns);
// The same, but cut in the middle: the head and the tail of kernel names tell them apart.
[[nodiscard]] std::string shorten_middle(std::string_view text, std::size_t columns);

}  // namespace tracelens
