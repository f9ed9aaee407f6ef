// busy_time.hpp: when GPU events ran, and for how long at least one of them did.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tracelens/intervals.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "tree/time_math.hpp"
#include "tree/time_order.hpp"

namespace tracelens {

[[nodiscard]] inline Interval interval_of(const Trace& trace, EventId event) {
  return {trace.ts_ns()[event.row], end_of(trace, event)};
}

// Calls use(stretch) for each time in which at least one of these events ran, the earliest first:
// what merge() makes of their intervals, without a list of these. The events need a time, and are put
// into the order of time.
template <class Use>
void for_each_busy_stretch(const Trace& trace, std::span<EventId> events, const Use& use) {
  if (events.empty()) return;
  sort_by_time(events, trace.ts_ns());
  Interval stretch = interval_of(trace, events.front());
  for (const EventId event : events.subspan(1)) {
    const Interval next = interval_of(trace, event);
    if (next.start <= stretch.end) {
      stretch.end = std::max(stretch.end, next.end);
    } else {
      use(stretch);
      stretch = next;
    }
  }
  use(stretch);
}

// One value of a sparse column per event, kAbsent where there is none; events in file order.
[[nodiscard]] std::vector<std::int64_t> gather(const SparseColumn<std::int64_t>& column,
                                               std::span<const EventId> events);

}  // namespace tracelens
