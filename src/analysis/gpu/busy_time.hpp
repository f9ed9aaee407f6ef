// busy_time.hpp: when GPU events ran, and for how long at least one of them did.
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/intervals.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "tree/time_math.hpp"

namespace tracelens {

[[nodiscard]] inline Interval interval_of(const Trace& trace, EventId event) {
  return {trace.ts_ns()[event.row], end_of(trace, event)};
}

// One value of a sparse column per event, kAbsent where there is none; events in file order.
[[nodiscard]] std::vector<std::int64_t> gather(const SparseColumn<std::int64_t>& column,
                                               std::span<const EventId> events);

}  // namespace tracelens
