// ascii.hpp: letters without regard to case, for names that are ASCII whatever the locale is.
//   contains_ignoring_case("ncclDevKernel_AllReduce", "allreduce")      // true
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tracelens::io {

[[nodiscard]] constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] constexpr bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// How many bytes the text begins with that are ASCII, most often all of them: eight at a time.
[[nodiscard]] inline std::size_t ascii_length(std::string_view text) {
  std::size_t at = 0;
  for (std::uint64_t eight; at + sizeof eight <= text.size(); at += sizeof eight) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & 0x8080'8080'8080'8080) != 0) break;
  }
  while (at < text.size() && is_ascii(text[at])) ++at;
  return at;
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string result{text};
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

// `lower_word` must be in lower case. Makes no copy.
[[nodiscard]] inline bool contains_ignoring_case(std::string_view text,
                                                 std::string_view lower_word) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  return std::search(text.begin(), text.end(), lower_word.begin(), lower_word.end(), same) !=
         text.end();
}

}  // namespace tracelens::io
