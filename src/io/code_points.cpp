#include "io/code_points.hpp"

namespace tracelens::io {

CodePoint next_long_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(at);
  const CodePoint invalid{lead, false};
  ++at;
  const std::size_t following = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4) return invalid;
  char32_t value = lead & (0x3FU >> following);
  for (std::size_t i = 0; i < following; ++i) {
    const unsigned next = byte(at + i);
    if ((next & 0xC0U) != 0x80) return invalid;
    value = value << 6 | (next & 0x3FU);
  }
  // Overlong forms, surrogates and anything above the last code point are not UTF-8.
  constexpr char32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[following] || value > 0x10FFFF || surrogate) return invalid;
  at += following;
  return {value, true};
}

void append_utf8(std::string& out, char32_t point) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else {
    if (point < 0x10000) {
      put(0xE0 | point >> 12);
    } else {
      put(0xF0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3F));
    }
    put(0x80 | (point >> 6 & 0x3F));
  }
  put(0x80 | (point & 0x3F));
}

}  // namespace tracelens::io
