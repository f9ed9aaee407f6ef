// times.hpp: times of a page: ns from its first event, and below 2^53 whatever the file says.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tree/time_math.hpp"

namespace tracelens {

inline constexpr std::int64_t kLastPageTime = (std::int64_t{1} << 53) - 1;

[[nodiscard]] inline std::int64_t page_time(std::int64_t ns, std::int64_t origin_ns) {
  if (ns <= origin_ns) return 0;
  const std::int64_t since = minus_ns(ns, origin_ns);
  return since < 0 ? kLastPageTime : std::min(since, kLastPageTime);
}

// From the start of a call to the start of its work. Clocks that differ can make it seem negative.
[[nodiscard]] inline std::int64_t launch_latency(std::int64_t call_ns, std::int64_t work_ns) {
  return page_time(work_ns, call_ns);
}

}  // namespace tracelens
