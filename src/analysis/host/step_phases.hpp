// step_phases.hpp: what each step of the loop was made of, on the host and on the GPU.
//   for (const StepPhase& step : step_phases_of(work)) print(step.optimizer_kernels);
// GPU work belongs to the step in which it was launched, whenever it ran.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/host/host_work.hpp"
#include "analysis/path/segment.hpp"

namespace tracelens {

struct StepPhase {
  std::string name;
  std::int64_t wall_ns = 0, gpu_busy_ns = 0, gpu_idle_ns = 0;
  std::int64_t launches = 0, graph_launches = 0, kernels = 0, short_kernels = 0;
  std::int64_t syncs = 0, host_allocs = 0;
  std::int64_t dataloader_ns = 0, optimizer_host_ns = 0, optimizer_gpu_ns = 0;
  std::int64_t optimizer_kernels = 0;
  std::int64_t forward_gpu_ns = 0, backward_gpu_ns = 0, comm_exposed_ns = 0;
  std::int64_t h2d_pageable_bytes = 0, h2d_pinned_bytes = 0, d2h_bytes = 0;
  std::int64_t gpu_sum_ns = 0, graph_gpu_sum_ns = 0;  // durations, of all and of graph launches
  std::optional<BoundByTimes> path_ns = {};           // the critical path while the step lasts
};

// All but the critical path, which others know.
[[nodiscard]] std::vector<StepPhase> step_phases_of(const HostWork& work);

// One row per step, and their mean, median and coefficient of variation.
[[nodiscard]] Table step_phases(const std::vector<StepPhase>& steps);

}  // namespace tracelens
