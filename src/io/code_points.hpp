// code_points.hpp: UTF-8 text, one code point after the other.
//   for (std::size_t at = 0; at < text.size();) {
//     const CodePoint point = next_code_point(text, at);   // moves `at` on
//     if (!point.valid) ...
//   }
// Text comes from traces and may be any bytes: a byte that is not UTF-8 is one invalid code point.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracelens::io {

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

}  // namespace tracelens::io
