// hints.hpp: what a person needs to mend a statement.
//   nearest("kernal_name", names)          // {"kernel_name"}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens::query {

// Names that differ little from this one, the nearest first; three at most.
[[nodiscard]] std::vector<std::string> nearest(std::string_view name,
                                               std::span<const std::string> names);

// The line of the statement around a byte, shortened where it is long, and a caret below it.
[[nodiscard]] std::string marked_line(std::string_view statement, int offset);

}  // namespace tracelens::query
