#include "analysis/gpu/busy_time.hpp"

#include "trace/sparse_cursor.hpp"

namespace tracelens {

std::int64_t busy_ns(const Trace& trace, std::span<const EventId> events) {
  if (events.size() == 1) return length(interval_of(trace, events[0]));
  std::vector<EventId> by_time{events.begin(), events.end()};
  std::int64_t busy = 0;
  for_each_busy_stretch(
      trace, by_time, [&busy](const Interval& stretch) { busy = plus_ns(busy, length(stretch)); });
  return busy;
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
