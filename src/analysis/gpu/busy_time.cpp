#include "analysis/gpu/busy_time.hpp"

#include <utility>

#include "trace/sparse_cursor.hpp"

namespace tracelens {

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
  SparseCursor cursor{column};
  for (const EventId event : events) values.push_back(cursor.at(event).value_or(kAbsent));
  return values;
}

}  // namespace tracelens
