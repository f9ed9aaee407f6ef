#include "analysis/gpu/idle_gaps.hpp"

#include <algorithm>

#include "analysis/gpu/busy_time.hpp"
#include "tree/time_order.hpp"

namespace tracelens {

std::vector<IdleGap> find_gaps(const Trace& trace, std::vector<EventId> gpu_events, int threads) {
  sort_by_time(std::span{gpu_events}, trace.ts_ns(), threads);
  std::vector<IdleGap> gaps;
  gaps.reserve(gpu_events.size());  // growing would take three times as much for a moment
  std::int64_t busy_until = 0;
  for (std::size_t i = 0; i < gpu_events.size(); ++i) {
    const Interval time = interval_of(trace, gpu_events[i]);
    if (i > 0 && time.start > busy_until) gaps.push_back({{busy_until, time.start}, gpu_events[i]});
    busy_until = i == 0 ? time.end : std::max(busy_until, time.end);
  }
  return gaps;
}

}  // namespace tracelens
