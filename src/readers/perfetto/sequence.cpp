#include "readers/perfetto/sequence.hpp"

#include <algorithm>

namespace tracelens::perfetto {

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= 0x20) {
      out += c;
    } else {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

std::uint32_t Texts::intern(std::string_view raw) {
  scratch_.clear();
  append_escaped(scratch_, raw);
  return parser_.intern(scratch_);
}

std::uint32_t Texts::intern_key(std::string_view raw) {
  scratch_.clear();
  append_escaped(scratch_, raw);
  std::ranges::replace_if(
      scratch_, [](char c) { return c == '.' || c == '[' || c == ']'; }, '_');
  return parser_.intern(scratch_);
}

}  // namespace tracelens::perfetto
