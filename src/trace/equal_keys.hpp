// equal_keys.hpp: the last of equal keys wins, at the place of the first, in linear time.
//   kept = keep_last_of_equals(size, [&](i) { return keys[i]; }, [&](to, from) { move(to, from); });
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

namespace tracelens {

// Moves what stays of [0, count) to the front, in its order, and returns how many that are.
template <class KeyAt, class Move>
[[nodiscard]] std::size_t keep_last_of_equals(std::size_t count, const KeyAt& key_at,
                                              const Move& move) {
  std::unordered_map<std::string, std::size_t> places;  // texts of their own: keys are moved
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = places.try_emplace(key_at(i), places.size()).first->second;
    if (place != i) move(place, i);
  }
  return places.size();
}

}  // namespace tracelens
