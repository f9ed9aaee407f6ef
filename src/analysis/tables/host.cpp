// The tables about what the host asked of the GPU.
#include "analysis/tables/host.hpp"

#include <algorithm>
#include <initializer_list>

#include "analysis/host/annotations.hpp"
#include "analysis/host/copies.hpp"
#include "analysis/host/counters.hpp"
#include "analysis/host/gaps.hpp"
#include "analysis/host/launches.hpp"
#include "analysis/host/queue.hpp"
#include "analysis/host/step_phases.hpp"
#include "analysis/host/syncs.hpp"
#include "analysis/host/utilization.hpp"
#include "analysis/jax/hosts.hpp"
#include "analysis/tables/context.hpp"

namespace tracelens::host_tables {

namespace {

// Whether there is GPU work, and one clock that all times are of.
bool has_work(TableContext& c) {
  if (c.kind == TraceKind::kJax && JaxHosts{c.trace}.are_several()) return false;
  return !c.host_work().jobs().empty();
}

}  // namespace

std::vector<Table> gap_summary(TableContext& c) {
  // Without a launch nothing is known of the host.
  if (!has_work(c) || c.host_work().launched().empty()) return {};
  return tables(gpu_gap_summary(c.host_work(), gpu_gaps_of(c.host_work(), -1)));
}

std::vector<Table> steps(TableContext& c) {
  if (!has_work(c)) return {};
  std::vector<StepPhase> phases = step_phases_of(c.host_work());
  if (c.kind == TraceKind::kPyTorch) {
    const std::vector<BoundByTimes>& paths = c.path_summary().stretches;
    for (std::size_t i = 0; i < paths.size(); ++i) phases[i].path_ns = paths[i];
  }
  return tables(step_phases(phases));
}

std::vector<Table> more(TableContext& c) {
  const HostWork& work = c.host_work();
  // While CUPTI measures kernels they are not recorded otherwise.
  if (!has_work(c)) return c.wants("counters") ? tables(counters(work)) : std::vector<Table>{};
  const auto wants = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(names, [&](std::string_view name) { return c.wants(name); });
  };
  std::vector<Table> made;
  if (wants({"gpu_gaps", "sync_summary", "sync_calls"})) {
    const GpuGaps gaps = gpu_gaps_of(work, kLongGapNs);
    if (wants({"gpu_gaps"})) made.push_back(gpu_gaps(work, gaps));
    if (wants({"sync_summary", "sync_calls"})) {
      const SyncCalls syncs = sync_calls_of(work, gaps);
      if (wants({"sync_summary"})) made.push_back(sync_summary(work, syncs));
      if (wants({"sync_calls"})) made.push_back(sync_calls(work, syncs));
    }
  }
  if (wants({"gpu_gaps_by_stream"})) made.push_back(gpu_gaps_by_stream(work));
  if (wants({"gpu_utilization"})) made.push_back(gpu_utilization(work));
  if (wants({"launch_summary", "launch_stats", "queue_length", "queue_length_series",
             "queue_blocked"})) {
    const QueueLengths queues = queue_lengths(work);
    if (wants({"launch_summary", "launch_stats"})) {
      const std::vector<Launch> launches = launches_of(work, queues);
      if (wants({"launch_summary"})) made.push_back(launch_summary(work, launches));
      if (wants({"launch_stats"})) made.push_back(launch_stats(work, launches));
    }
    if (wants({"queue_length"})) made.push_back(queue_length(work, queues));
    if (wants({"queue_length_series"})) made.push_back(queue_length_series(work, queues));
    if (wants({"queue_blocked"})) made.push_back(queue_blocked(work, queues));
  }
  if (wants({"copy_bandwidth", "copy_bandwidth_series", "copy_bandwidth_levels"})) {
    const std::vector<Copy> copies = copies_of(work);
    if (wants({"copy_bandwidth"})) made.push_back(copy_bandwidth(work, copies));
    if (wants({"copy_bandwidth_series"})) made.push_back(copy_bandwidth_series(work, copies));
    if (wants({"copy_bandwidth_levels"})) made.push_back(copy_bandwidth_levels(work, copies));
  }
  if (wants({"annotations"})) made.push_back(annotations(work));
  if (wants({"counters"}))
    for (Table& table : tables(counters(work))) made.push_back(std::move(table));
  return with_rows(std::move(made));
}

}  // namespace tracelens::host_tables
