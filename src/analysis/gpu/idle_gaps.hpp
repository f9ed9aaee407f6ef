// idle_gaps.hpp: the stretches between GPU events in which none of them runs.
//   for (const IdleGap& gap : find_gaps(trace, facts.gpu_events(true).events)) idle += length(gap.time);
#pragma once

#include <tracelens/intervals.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct IdleGap {
  Interval time;
  EventId ended_by;  // the GPU event that ends it; of several the first in the file
};

// In order of time. The events have a time; they may stand in any order.
[[nodiscard]] std::vector<IdleGap> find_gaps(const Trace& trace, std::vector<EventId> gpu_events,
                                             int threads = 1);

}  // namespace tracelens
