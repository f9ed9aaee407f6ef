// time_limits.hpp: which times a reader believes.
#pragma once

#include <cstdint>

namespace tracelens {

// Times beyond these are no times of a trace, and sums over events of such lengths would overflow:
// 73 years from the epoch of the clock, 104 days for one event.
inline constexpr std::int64_t kLatestNs = std::int64_t{1} << 61;
inline constexpr std::int64_t kLongestNs = std::int64_t{1} << 53;

}  // namespace tracelens
