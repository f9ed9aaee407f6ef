// unique_names.cpp: cutting and numbering of names.
#include "report/sinks/unique_names.hpp"

#include <algorithm>

#include "io/ascii.hpp"
#include "table/utf8.hpp"

namespace tracelens {

std::string UniqueNames::add(std::string_view name) {
  const auto take = [this](const std::string& candidate) {
    return taken_.insert(io::lower_case(candidate)).second;
  };
  std::string unique{cut_utf16(name, max_characters_)};
  for (int number = 2; !take(unique); ++number) {
    const std::string digits = std::to_string(number);
    unique = cut_utf16(name, max_characters_ - 1 - digits.size());
    unique.append("_").append(digits);
  }
  return unique;
}

std::string_view cut_utf16(std::string_view text, std::size_t units) {
  if (text.size() <= units) return text;  // a unit is at least one byte
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t next = at;
    const std::size_t needed = next_code_point(text, next).value > 0xFFFF ? 2 : 1;
    if (needed > units) break;
    units -= needed;
    at = next;
  }
  return text.substr(0, at);
}

}  // namespace tracelens
