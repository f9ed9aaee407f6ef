// jax_timeline.hpp: the time of each GPU of a JAX profile, as the Python TraceLens reports it.
//   const JaxTimeline timeline = jax_timeline(trace);
#pragma once

#include <string>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>

namespace tracelens {

struct JaxTimeline {
  Table by_gpu;    // eight rows per GPU, column gpu_pid
  Table averages;  // gpu_events_averages: the same eight rows, the mean over the GPUs
};

// GPUs by number; one without any work has no rows. Copies and fills count as memcpy, all else by
// its name as communication or computation.
// `by_gpu` is the name of that table.
[[nodiscard]] JaxTimeline jax_timeline(const Trace& trace, std::string by_gpu = "gpu_timeline");

}  // namespace tracelens
