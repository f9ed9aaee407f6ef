// queue.hpp: how much work waited on each stream: launched, but not started.
//   const QueueLengths queues = queue_lengths(work);
//   queues.at_launch[job]                     // the length when that job had just been added
// The length grows when a call that launches work begins and shrinks when the GPU begins that work, so
// that it counts what waits and not what runs. Work without a call is not counted.
#pragma once

#include <cstdint>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/host/host_work.hpp"

namespace tracelens {

struct QueueChange {
  std::int64_t ts_ns = 0;
  std::int64_t length = 0;  // from here on
};

struct QueueLane {
  std::int64_t device = 0, stream = 0;
  std::vector<QueueChange> changes;  // in order of time
  std::int64_t below_zero = 0;       // work that seemed to start before its call: the clocks differ
  std::int64_t most = 0;             // the greatest length
};

struct QueueLengths {
  std::vector<QueueLane> lanes;         // by device and stream
  std::vector<std::uint32_t> lane_of;   // by place among the jobs; lanes.size(): without a call
  std::vector<std::int64_t> at_launch;  // the same; 0 without a call
};
[[nodiscard]] QueueLengths queue_lengths(const HostWork& work);

// Calls that took long because no more work fitted into the queue.
struct BlockedCalls {
  std::int64_t calls = 0, blocked_ns = 0;
  std::int64_t at_limit_ns = 0;  // the length was at least the limit
  std::int64_t span_ns = 0;      // of the lane, from its first change to its last
};
inline constexpr std::int64_t kQueueLimit = 1024;
[[nodiscard]] BlockedCalls blocked_calls(const HostWork& work, const QueueLengths& queues,
                                         std::size_t lane, std::int64_t limit = kQueueLimit);

[[nodiscard]] Table queue_length(const HostWork& work, const QueueLengths& queues);
[[nodiscard]] Table queue_length_series(const HostWork& work, const QueueLengths& queues);
[[nodiscard]] Table queue_blocked(const HostWork& work, const QueueLengths& queues);

}  // namespace tracelens
