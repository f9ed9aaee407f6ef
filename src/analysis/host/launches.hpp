// launches.hpp: launch by launch: how long the call took, how long the work waited, how long it ran.
//   for (const Launch& launch : launches_of(work, queue_lengths(work))) total += launch.delay_ns;
#pragma once

#include <cstdint>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/host/host_work.hpp"
#include "analysis/host/queue.hpp"

namespace tracelens {

struct Launch {
  EventId call, gpu;  // of a graph launch the first GPU event
  EventId op;         // that launched it; invalid: none
  std::int64_t device = 0, stream = 0;
  std::int64_t gpu_events = 1;  // of a graph launch all of them
  std::int64_t cpu_ns = 0, gpu_ns = 0;
  std::int64_t delay_ns = 0;  // from the return of the call to the start of the work
  std::int64_t queue = 0;     // what waited on the stream then, this included
};

// One for each call and GPU event, and one for each graph launch; calls in file order.
[[nodiscard]] std::vector<Launch> launches_of(const HostWork& work, const QueueLengths& queues);

struct LaunchLimits {
  std::int64_t slow_call_ns = 50'000, long_delay_ns = 100'000;
};

[[nodiscard]] Table launch_stats(const HostWork& work, const std::vector<Launch>& launches);
[[nodiscard]] Table launch_summary(const HostWork& work, const std::vector<Launch>& launches,
                                   const LaunchLimits& limits = {});

}  // namespace tracelens
