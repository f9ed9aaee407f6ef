// timeline.hpp: what the time of the GPUs of a JAX profile went to.
//   const JaxTimeline timeline = jax_timeline(facts, edition);
//   const Timeline all = jax_gpu_timeline(facts, options);  // as for any other trace
#pragma once

#include <tracelens/edition.hpp>
#include <tracelens/table.hpp>

#include "analysis/gpu/timeline.hpp"

namespace tracelens {

struct JaxTimeline {
  // Eight rows per GPU, columns gpu_pid and, where there are several, host: gpu_timeline, or
  // gpu_timeline_by_device of the extended edition, where gpu_timeline is of all GPUs together.
  Table by_gpu;
  Table averages;  // gpu_events_averages: the same eight rows, the mean over the GPUs
  std::size_t gpus = 0;
};

// GPUs by number; one without any work has no rows. Memcpy are copies and fills but no kernel, as in
// the Python TraceLens; in the extended edition what counts as such in the timeline of any other
// trace (gpu_work.hpp), where a fill computes and a kernel may copy. What is no copy is
// communication or computation by its name.
[[nodiscard]] JaxTimeline jax_timeline(const TraceFacts& facts, Edition edition);

// gpu_timeline of all GPUs together. The clocks of several hosts do not compare: then each row is
// the mean over the hosts, each with its own GPUs together.
[[nodiscard]] Timeline jax_gpu_timeline(const TraceFacts& facts, const TimelineOptions& options);

}  // namespace tracelens
