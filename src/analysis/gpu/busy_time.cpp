#include "analysis/gpu/busy_time.hpp"

#include <utility>

#include "tree/time_math.hpp"

namespace tracelens {

Interval interval_of(const Trace& trace, EventId event) {
  return {trace.ts_ns()[event.row], end_of(trace, event)};
}

std::int64_t busy_ns(const Trace& trace, std::span<const EventId> events) {
  if (events.size() == 1) return length(interval_of(trace, events[0]));
  std::vector<Interval> intervals;
  intervals.reserve(events.size());
  for (const EventId event : events) intervals.push_back(interval_of(trace, event));
  return length(merge(std::move(intervals)));
}

std::vector<std::int64_t> gather(const SparseColumn<std::int64_t>& column,
                                 std::span<const EventId> events) {
  std::vector<std::int64_t> values;
  values.reserve(events.size());
  std::size_t at = 0;
  for (const EventId event : events) {
    while (at < column.rows().size() && column.rows()[at] < event.row) ++at;
    const bool found = at < column.rows().size() && column.rows()[at] == event.row;
    values.push_back(found ? column.values()[at] : kAbsent);
  }
  return values;
}

}  // namespace tracelens
