// letters_between.hpp: how far two words are from each other.
//   letters_between("reprot", "report")      // 2
#pragma once

#include <cstddef>
#include <string_view>

namespace tracelens {

// How many letters have to be changed, added or taken away. Takes time with both lengths.
[[nodiscard]] std::size_t letters_between(std::string_view a, std::string_view b);

}  // namespace tracelens
