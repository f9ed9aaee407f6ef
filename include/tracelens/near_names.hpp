// near_names.hpp: what somebody may have meant by a name that is misspelt.
//   nearest_names("kernal_name", columns)      // {"kernel_name"}
//   did_you_mean("kernal_name", columns)       // "; did you mean kernel_name?"
// Implemented in src/table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens {

// Names that differ little from this one, the nearest first; three at most. Case does not matter.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view name,
                                                     std::span<const std::string> names);

// They as the end of a sentence; empty when there are none.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> names);

}  // namespace tracelens
