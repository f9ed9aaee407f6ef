// path_point.hpp: the start or end of an event as a number; see graph.hpp.
#pragma once

#include <cstdint>
#include <limits>

namespace tracelens {

using PathPoint = std::uint32_t;
inline constexpr PathPoint kNoPoint = std::numeric_limits<PathPoint>::max();

}  // namespace tracelens
