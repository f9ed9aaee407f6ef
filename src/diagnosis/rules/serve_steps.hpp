// serve_steps.hpp: the steps of a serving engine inside the window.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "diagnosis/kit/context.hpp"
#include "facts/launchers.hpp"
#include "tree/links.hpp"

namespace tracelens {

struct ServedWindowStep {
  const ServedStep* step = nullptr;
  std::int64_t gpu_start_ns = 0, gpu_end_ns = 0;  // of its GPU work; both 0: it has none
  std::int64_t gpu_ns = 0, graph_ns = 0;          // in all, and what graphs launched
  std::int64_t one_by_one = 0;                    // GPU events that no graph launched
};

[[nodiscard]] inline std::vector<ServedWindowStep> served_steps(const DiagnosisContext& c) {
  const ServingRun& run = c.serving();
  std::vector<ServedWindowStep> all(run.steps().size());
  for (const ServedWork& work : run.work()) {
    if (work.step >= all.size()) continue;
    ServedWindowStep& step = all[work.step];
    const std::int64_t start = c.trace.ts_ns()[work.event.row], end = c.trace.end_ns(work.event);
    const bool is_first = step.gpu_end_ns == 0;
    step.gpu_start_ns = is_first ? start : std::min(step.gpu_start_ns, start);
    step.gpu_end_ns = is_first ? end : std::max(step.gpu_end_ns, end);
    step.gpu_ns += c.dur_ns(work.event);
    const EventId call = recorded_launch_of(c.trace, c.tree(), work.event);
    if (call.valid() && is_graph_launch(c.trace.name(call)))
      step.graph_ns += c.dur_ns(work.event);
    else
      ++step.one_by_one;
  }
  std::vector<ServedWindowStep> inside;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].step = &run.steps()[i];
    if (c.in_window(all[i].step->start_ns)) inside.push_back(all[i]);
  }
  return inside;
}

}  // namespace tracelens
