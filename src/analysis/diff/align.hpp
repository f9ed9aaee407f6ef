// align.hpp: two lists of names, aligned: what stayed, what went, what came.
//   edit_script({a, b}, {a, c})      // match 0 0, remove 1, insert 1
// Wagner-Fischer with unit costs; walking back from the end, equal names always match, so later
// occurrences are preferred, and a removal goes before an insertion where both are possible. A
// substitution is a removal and an insertion.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tracelens {

// One step: a match of two places, or a place of one list only.
struct EditStep {
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t first = kNowhere, second = kNowhere;
  [[nodiscard]] bool is_match() const { return first != kNowhere && second != kNowhere; }
  [[nodiscard]] bool is_removal() const { return second == kNowhere; }
  [[nodiscard]] bool is_insertion() const { return first == kNowhere; }
  bool operator==(const EditStep&) const = default;
};

// Time and memory are those of the full table over 64, by bits. Lists that would still take too
// much are aligned in blocks; equal ends never count towards that.
[[nodiscard]] std::vector<EditStep> edit_script(std::span<const std::uint32_t> first,
                                                std::span<const std::uint32_t> second);

}  // namespace tracelens
