// time_math.hpp: sums and differences of times that no damaged file can overflow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tracelens/trace.hpp>

namespace tracelens {

// Where an event ends. A negative or absent duration counts as 0; an end beyond the range of int64
// stops at its border. The start must be present.
[[nodiscard]] inline std::int64_t end_of(std::int64_t ts_ns, std::int64_t dur_ns) {
  std::int64_t end = 0;
  if (__builtin_add_overflow(ts_ns, std::max<std::int64_t>(dur_ns, 0), &end))
    return std::numeric_limits<std::int64_t>::max();
  return end;
}
[[nodiscard]] inline std::int64_t end_of(const Trace& trace, EventId event) {
  return end_of(trace.ts_ns()[event.row], trace.dur_ns()[event.row]);
}

// The duration of an event; negative and absent ones count as 0.
[[nodiscard]] inline std::int64_t duration_of(const Trace& trace, EventId event) {
  return std::max<std::int64_t>(trace.dur_ns()[event.row], 0);
}

// a + b, a - b and a * b, wrapping around where plain int64 would be undefined.
[[nodiscard]] inline std::int64_t plus_ns(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
[[nodiscard]] inline std::int64_t minus_ns(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
[[nodiscard]] inline std::int64_t times_ns(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

}  // namespace tracelens
