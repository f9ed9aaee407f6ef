// graph_launches.hpp: how much of the GPU's work graphs launch.
#pragma once

#include <set>

#include "diagnosis/kit/context.hpp"
#include "diagnosis/kit/figures.hpp"
#include "facts/launchers.hpp"
#include "tree/links.hpp"

namespace tracelens {

struct GraphLaunches {
  std::size_t launches = 0, gpu_events = 0;  // in the window
  double coverage_pct = 0;                   // of GPU time
  std::set<EventId> calls = {};
};

[[nodiscard]] inline GraphLaunches graph_launches_of(const DiagnosisContext& c) {
  GraphLaunches found;
  std::int64_t by_graphs = 0, all = 0;
  for (const EventId event : c.gpu_events()) {
    const EventId call = recorded_launch_of(c.trace, c.tree(), event);
    all += c.dur_ns(event);
    if (!call.valid() || !is_graph_launch(c.trace.name(call))) continue;
    by_graphs += c.dur_ns(event);
    found.calls.insert(call);
    ++found.gpu_events;
  }
  found.launches = found.calls.size();
  found.coverage_pct = percentage(by_graphs, all);
  return found;
}

}  // namespace tracelens
