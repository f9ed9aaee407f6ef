#include "analysis/host/step_phases.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tracelens/intervals.hpp>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/gpu/timeline.hpp"
#include "analysis/host/copies.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "analysis/kit/group_stats.hpp"
#include "tree/links.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kShortNs = 10'000;

// The ops in which autograd runs backward, whatever is below them.
class BackwardOps {
 public:
  explicit BackwardOps(const TraceFacts& facts) : tree_{facts.tree()} {
    const Trace& trace = facts.trace();
    enum class Is : std::uint8_t { kUnseen, kYes, kNo };
    std::vector<Is> names(trace.string_count(), Is::kUnseen);
    for (std::uint32_t next = 0; next < tree_.size();) {
      const std::uint32_t row = next++;
      if (!tree_.is_op({row})) continue;
      const EventId event = tree_.event({row});
      Is& is = names[trace.names()[event.row].row];
      if (is == Is::kUnseen)
        is = trace.name(event).starts_with("autograd::engine::evaluate_function") ? Is::kYes
                                                                                  : Is::kNo;
      if (is == Is::kNo) continue;
      starts_.push_back(row);
      ends_.push_back(next = tree_.end({row}).row);
    }
  }
  [[nodiscard]] bool hold(EventId call) const {
    const NodeId node = tree_.node(call);
    if (!node.valid()) return false;
    const auto after = std::ranges::upper_bound(starts_, node.row);
    return after != starts_.begin() &&
           node.row < ends_[static_cast<std::size_t>(after - starts_.begin()) - 1];
  }

 private:
  const Tree& tree_;
  std::vector<std::uint32_t> starts_, ends_;  // of subtrees, by start
};

// How much of any stretch of time some ranges cover, on any thread.
class Covered {
 public:
  explicit Covered(std::span<const HostRange> ranges) {
    for (const HostRange& range : ranges) merged_.push_back({range.start_ns, range.end_ns});
    merged_ = merge(std::move(merged_));
    for (const Interval& interval : merged_) {
      before_.push_back(sum_);
      sum_ = plus_ns(sum_, length(interval));
    }
  }
  [[nodiscard]] std::int64_t in(const HostStep& step) const {
    return minus_ns(until(step.end_ns), until(step.start_ns));
  }

 private:
  [[nodiscard]] std::int64_t until(std::int64_t ns) const {
    const auto after = std::ranges::upper_bound(merged_, ns, {}, &Interval::start);
    if (after == merged_.begin()) return 0;
    const Interval& last = *(after - 1);
    return plus_ns(before_[static_cast<std::size_t>(after - merged_.begin()) - 1],
                   length({last.start, std::min(last.end, ns)}));
  }

  std::vector<Interval> merged_;
  std::vector<std::int64_t> before_;  // what is covered before each of them
  std::int64_t sum_ = 0;
};

// Looks at each distinct name of a call once.
class GraphLaunches {
 public:
  explicit GraphLaunches(const Trace& trace) : trace_{trace}, known_(trace.string_count()) {}
  [[nodiscard]] bool contain(EventId call) {
    char& known = known_[trace_.names()[call.row].row];  // 1: is one, 2: is none
    if (known == 0) known = is_graph_launch(trace_.name(call)) ? 1 : 2;
    return known == 1;
  }

 private:
  const Trace& trace_;
  std::vector<char> known_;  // by StringId
};

// Work that a step launched.
struct StepWork {
  std::vector<EventId> events;
  std::vector<Interval> forward, backward, optimizer;
};

void add_calls(const HostWork& work, std::vector<StepPhase>& steps) {
  const Trace& trace = work.trace();
  GraphLaunches graphs{trace};
  for (const EventId call : work.calls()) {
    const std::size_t at = work.step_at(trace.ts_ns()[call.row]);
    if (at == steps.size()) continue;
    StepPhase& step = steps[at];
    const CallClass kind = work.class_of(call);
    if (kind == CallClass::kSync) ++step.syncs;
    if (kind == CallClass::kAlloc || kind == CallClass::kFree) ++step.host_allocs;
    if (!work.launches_work(call) && kind != CallClass::kLaunch) continue;
    ++step.launches;
    if (graphs.contain(call)) ++step.graph_launches;
  }
}

void add_copies(const HostWork& work, std::vector<StepPhase>& steps) {
  for (const Copy& copy : copies_of(work)) {
    if (!copy.call.valid() || !copy.bytes) continue;
    const std::size_t at = work.step_at(work.trace().ts_ns()[copy.call.row]);
    if (at == steps.size()) continue;
    StepPhase& step = steps[at];
    std::int64_t* bytes = nullptr;
    if (copy.kind == CopyKind::kDeviceToHost) bytes = &step.d2h_bytes;
    if (copy.kind == CopyKind::kHostToDevice)
      bytes =
          copy.memory == MemoryKind::kPageable ? &step.h2d_pageable_bytes : &step.h2d_pinned_bytes;
    if (bytes != nullptr) *bytes = plus_ns(*bytes, *copy.bytes);
  }
}

void add_gpu_work(const HostWork& work, std::vector<StepPhase>& steps) {
  const Trace& trace = work.trace();
  const BackwardOps backward{work.facts()};
  GraphLaunches graphs{trace};
  const std::span<const HostRange> optimizer = work.ranges().optimizer();
  std::vector<StepWork> of_step(steps.size());
  for (const std::uint32_t at : work.launched()) {
    const GpuJob& job = work.jobs()[at];
    const std::int64_t called = trace.ts_ns()[job.call.row];
    const std::size_t place = work.step_at(called);
    if (place == steps.size()) continue;
    StepPhase& step = steps[place];
    StepWork& own = of_step[place];
    const Interval time = interval_of(trace, job.gpu);
    const bool is_kernel = trace.category(job.gpu) == Category::kKernel;
    step.gpu_sum_ns = plus_ns(step.gpu_sum_ns, length(time));
    if (is_kernel) ++step.kernels;
    if (is_kernel && length(time) < kShortNs) ++step.short_kernels;
    own.events.push_back(job.gpu);
    if (in_ranges(optimizer, trace.tracks()[job.call.row], called)) {
      own.optimizer.push_back(time);
      if (is_kernel) ++step.optimizer_kernels;
    } else {
      (backward.hold(job.call) ? own.backward : own.forward).push_back(time);
    }
    if (graphs.contain(job.call))
      step.graph_gpu_sum_ns = plus_ns(step.graph_gpu_sum_ns, length(time));
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const GpuTimes times = gpu_times(work.facts(), of_step[i].events);
    steps[i].gpu_busy_ns = times.busy;
    steps[i].gpu_idle_ns = std::max<std::int64_t>(0, minus_ns(steps[i].wall_ns, times.busy));
    steps[i].comm_exposed_ns = times.exposed_comm;
    steps[i].forward_gpu_ns = length(merge(std::move(of_step[i].forward)));
    steps[i].backward_gpu_ns = length(merge(std::move(of_step[i].backward)));
    steps[i].optimizer_gpu_ns = length(merge(std::move(of_step[i].optimizer)));
  }
}

// A column of the table: how a step gives its number.
struct Metric {
  const char* name;
  const char* unit;
  const char* description;
  std::optional<double> (*of)(const StepPhase& step);
};

template <std::int64_t StepPhase::*kMember>
std::optional<double> in_ms(const StepPhase& step) {
  return ms(step.*kMember);
}
template <std::int64_t StepPhase::*kMember>
std::optional<double> in_mb(const StepPhase& step) {
  return static_cast<double>(step.*kMember) / 1e6;
}
template <std::int64_t StepPhase::*kMember>
std::optional<double> counted(const StepPhase& step) {
  return static_cast<double>(step.*kMember);
}
template <BoundBy kWhat>
std::optional<double> on_path(const StepPhase& step) {
  if (!step.path_ns) return std::nullopt;
  return ms((*step.path_ns)[static_cast<std::size_t>(kWhat)]);
}

constexpr Metric kMetrics[] = {
    {"wall_ms", "ms", "how long the step took on the host", in_ms<&StepPhase::wall_ns>},
    {"gpu_busy_ms", "ms", "time in which at least one GPU event of the step ran",
     in_ms<&StepPhase::gpu_busy_ns>},
    {"gpu_idle_ms", "ms", "wall_ms without gpu_busy_ms", in_ms<&StepPhase::gpu_idle_ns>},
    {"launches", "", "calls that launched GPU work", counted<&StepPhase::launches>},
    {"graph_launches", "", "of these, launches of captured graphs",
     counted<&StepPhase::graph_launches>},
    {"graph_coverage_pct", "%", "share of the GPU time that graph launches asked for",
     [](const StepPhase& step) { return percent_of(step.graph_gpu_sum_ns, step.gpu_sum_ns); }},
    {"kernels", "", "kernels", counted<&StepPhase::kernels>},
    {"short_kernels", "", "kernels of less than 10 µs", counted<&StepPhase::short_kernels>},
    {"syncs", "", "calls that wait for the GPU", counted<&StepPhase::syncs>},
    {"host_allocs", "", "calls that take memory from the driver or give it back",
     counted<&StepPhase::host_allocs>},
    {"dataloader_ms", "ms", "time in which a batch was fetched", in_ms<&StepPhase::dataloader_ns>},
    {"optimizer_host_ms", "ms", "host time in Optimizer.step",
     in_ms<&StepPhase::optimizer_host_ns>},
    {"optimizer_gpu_ms", "ms", "GPU time of what Optimizer.step launched",
     in_ms<&StepPhase::optimizer_gpu_ns>},
    {"optimizer_kernels", "", "kernels that Optimizer.step launched",
     counted<&StepPhase::optimizer_kernels>},
    {"forward_gpu_ms", "ms",
     "GPU time of what neither autograd's backward pass nor the optimizer launched",
     in_ms<&StepPhase::forward_gpu_ns>},
    {"backward_gpu_ms", "ms", "GPU time of what autograd's backward pass launched",
     in_ms<&StepPhase::backward_gpu_ns>},
    {"comm_exposed_ms", "ms", "communication while nothing computed",
     in_ms<&StepPhase::comm_exposed_ns>},
    {"h2d_pageable_mb", "MB", "copied to the GPU from pageable memory",
     in_mb<&StepPhase::h2d_pageable_bytes>},
    {"h2d_pinned_mb", "MB", "copied to the GPU from other memory of the host",
     in_mb<&StepPhase::h2d_pinned_bytes>},
    {"d2h_mb", "MB", "copied from the GPU to the host", in_mb<&StepPhase::d2h_bytes>},
    {"path_gpu_compute_ms", "ms", "on the critical path during the step: GPU computing",
     on_path<BoundBy::kGpuCompute>},
    {"path_gpu_communication_ms", "ms", "on the critical path during the step: GPU communicating",
     on_path<BoundBy::kGpuCommunication>},
    {"path_gpu_memcpy_ms", "ms", "on the critical path during the step: copies and fills",
     on_path<BoundBy::kGpuMemcpy>},
    {"path_gpu_gap_ms", "ms", "on the critical path during the step: pauses between queued kernels",
     on_path<BoundBy::kGpuGap>},
    {"path_launch_latency_ms", "ms",
     "on the critical path during the step: from launch calls to the start of their work",
     on_path<BoundBy::kLaunchLatency>},
    {"path_stream_wait_ms", "ms",
     "on the critical path during the step: waits of streams for each other",
     on_path<BoundBy::kStreamWait>},
    {"path_sync_return_ms", "ms",
     "on the critical path during the step: return of calls that waited for the GPU",
     on_path<BoundBy::kSyncReturn>},
    {"path_thread_handoff_ms", "ms",
     "on the critical path during the step: waits of threads for each other",
     on_path<BoundBy::kThreadHandoff>},
    {"path_data_loading_ms", "ms", "on the critical path during the step: data loading",
     on_path<BoundBy::kDataLoading>},
    {"path_host_runtime_ms", "ms", "on the critical path during the step: calls of the runtime",
     on_path<BoundBy::kHostRuntime>},
    {"path_host_op_ms", "ms", "on the critical path during the step: host time of ops",
     on_path<BoundBy::kHostOp>},
    {"path_host_other_ms", "ms",
     "on the critical path during the step: other host time, mostly Python",
     on_path<BoundBy::kHostOther>},
};

}  // namespace

std::vector<StepPhase> step_phases_of(const HostWork& work) {
  const Covered loading{work.ranges().data_loading()}, optimizing{work.ranges().optimizer()};
  std::vector<StepPhase> steps;
  for (const HostStep& step : work.steps())
    steps.push_back({.name = step.name,
                     .wall_ns = minus_ns(step.end_ns, step.start_ns),
                     .dataloader_ns = loading.in(step),
                     .optimizer_host_ns = optimizing.in(step)});
  add_calls(work, steps);
  add_copies(work, steps);
  add_gpu_work(work, steps);
  return steps;
}

Table step_phases(const std::vector<StepPhase>& steps) {
  std::vector<ColumnSpec> columns{
      {"step", Kind::kText, "",
       "its name; then mean, median and cv: standard deviation over mean"}};
  for (const Metric& metric : kMetrics)
    columns.push_back({metric.name, Kind::kReal, metric.unit, metric.description});
  Table table{"step_phases", "What each step was made of, on the host and on the GPU", columns};
  RowCells row;
  std::vector<std::vector<double>> values(std::size(kMetrics));
  for (const StepPhase& step : steps) {
    row.clear();
    row.add(step.name);
    for (std::size_t i = 0; i < std::size(kMetrics); ++i) {
      const std::optional<double> value = kMetrics[i].of(step);
      row.add(value);
      if (value) values[i].push_back(*value);
    }
    table.append(row.cells());
  }
  std::vector<GroupStats> stats;
  for (std::vector<double>& of_metric : values) stats.push_back(stats_of(of_metric));
  const auto add = [&](const char* name, auto&& of) {
    row.clear();
    row.add(name);
    for (const GroupStats& metric : stats) row.add(of(metric));
    table.append(row.cells());
  };
  add("mean", [](const GroupStats& metric) { return metric.mean; });
  add("median", [](const GroupStats& metric) { return metric.median; });
  add("cv", [](const GroupStats& metric) -> std::optional<double> {
    if (!metric.std || !metric.mean || *metric.mean == 0) return std::nullopt;
    return *metric.std / *metric.mean;
  });
  return table;
}

}  // namespace tracelens
