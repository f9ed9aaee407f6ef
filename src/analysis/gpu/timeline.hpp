// timeline.hpp: how the GPU's time divides into computing, communicating, copying and waiting.
//   const Timeline timeline = gpu_timeline(facts, {.micro_idle_threshold_us = 5});
// "Exposed" communication runs while nothing computes, exposed copies while nothing computes or
// communicates, so that computation + exposed times + idle = total.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tracelens/table.hpp>
#include <tracelens/timeline.hpp>
#include <vector>

#include "facts/trace_facts.hpp"

namespace tracelens {

struct TimelineOptions {
  bool include_unlinked = false;  // also GPU events whose launch is not in the trace
  // Idle time in two rows: gaps shorter than this and all others.
  std::optional<std::int64_t> micro_idle_threshold_us = {};
  // Rows for recomputed and for all other work (column is_recompute). Needs Python frames.
  bool split_recompute = false;
};

// The same figures for any GPU events.
[[nodiscard]] GpuTimes gpu_times(const TraceFacts& facts, std::span<const EventId> events,
                                 const TimelineOptions& options = {});

// These figures as gpu_timeline, for traces whose GPUs do not share one clock.
[[nodiscard]] Table timeline_table(const GpuTimes& times, std::string description,
                                   const TimelineOptions& options = {});

struct Timeline {
  Table table;                        // gpu_timeline
  std::int64_t total_ns = 0;          // the first total_time row: the base of percentages elsewhere
  std::vector<std::string> warnings;  // sentences about what the table had to make do with
};

// All GPUs together. When no GPU event is linked to a launch, all are taken, with a warning; when
// there is none at all, times are 0.
[[nodiscard]] Timeline gpu_timeline(const TraceFacts& facts, const TimelineOptions& options = {});

// The same rows for each GPU and for all of them; no table when the trace has only one GPU.
[[nodiscard]] std::optional<Table> gpu_timeline_by_device(const TraceFacts& facts,
                                                          const TimelineOptions& options = {});

}  // namespace tracelens
