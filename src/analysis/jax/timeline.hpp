// timeline.hpp: what the time of the GPUs of a JAX profile went to.
//   const JaxTimeline timeline = jax_timeline(trace);                   // as the Python TraceLens
//   const Timeline all = jax_gpu_timeline(trace, tree, options);        // as for any other trace
#pragma once

#include <string>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>

#include "analysis/gpu/timeline.hpp"

namespace tracelens {

struct JaxTimeline {
  Table by_gpu;    // eight rows per GPU, columns gpu_pid and, where there are several, host
  Table averages;  // gpu_events_averages: the same eight rows, the mean over the GPUs
};

struct JaxTimelineOptions {
  std::string by_gpu_name = "gpu_timeline";
  // What counts as memcpy: copies and fills but no kernel, as in the Python TraceLens; or what does
  // in the timeline of any other trace (gpu_work.hpp), where a fill computes and a kernel may copy.
  bool reference_kinds = true;
};

// GPUs by number; one without any work has no rows. What is no copy is communication or computation
// by its name.
[[nodiscard]] JaxTimeline jax_timeline(const Trace& trace, const JaxTimelineOptions& options = {});

// gpu_timeline of all GPUs together. The clocks of several hosts do not compare: then each row is
// the mean over the hosts, each with its own GPUs together.
[[nodiscard]] Timeline jax_gpu_timeline(const Trace& trace, const Tree& tree,
                                        const TimelineOptions& options);

}  // namespace tracelens
