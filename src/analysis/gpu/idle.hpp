// idle.hpp: when the GPU waited, for how long at a time, and what the host did meanwhile.
//   const IdleTables idle = gpu_idle(facts);
// A gap is a stretch between the first and the last GPU event in which none of them runs. The GPU
// event that ends the gap names the thread that kept it waiting: the one that launched it.
#pragma once

#include <cstddef>
#include <tracelens/table.hpp>

#include "facts/trace_facts.hpp"

namespace tracelens {

struct IdleOptions {
  bool include_unlinked = false;  // as for the timeline
  std::size_t top_rows = 30;      // of gpu_idle_host; the others become one row
};

struct IdleTables {
  Table by_size;  // gpu_idle: gaps by size class
  Table by_host;  // gpu_idle_host: idle time by what the launching thread was doing
};

// Each instant of a gap is charged to one line:
//   queued          the work was launched before the gap began: the GPU or another stream was slow
//   launch latency  the launching call has begun, its work has not
//   sync, runtime call, op, python   before that: the innermost event open on the thread
//   no host activity                 nothing was open on it
//   unlinked        the launch is not in the trace
// Python frames are looked at whether they take part in the tree or not.
[[nodiscard]] IdleTables gpu_idle(const TraceFacts& facts, const IdleOptions& options = {});

}  // namespace tracelens
