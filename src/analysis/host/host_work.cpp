#include "analysis/host/host_work.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/gpu/launch_calls.hpp"
#include "facts/launchers.hpp"
#include "facts/marked_steps.hpp"
#include "facts/serving_steps.hpp"
#include "tree/time_math.hpp"
#include "tree/time_order.hpp"

namespace tracelens {
namespace {

std::vector<EventId> complete_calls(const TraceFacts& facts) {
  const Trace& trace = facts.trace();
  const std::span<const std::uint32_t> rows = recorded_rows(trace, facts.rows().calls());
  std::vector<EventId> calls;
  calls.reserve(rows.size());
  for (const std::uint32_t row : rows)
    if (trace.phases()[row] == Phase::kComplete && trace.ts_ns()[row] != kAbsent &&
        trace.dur_ns()[row] != kAbsent)
      calls.push_back({row});
  return calls;
}

// The start of the first event that was measured; the span the profiler gives itself is not one.
std::int64_t first_start(const Trace& trace) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const EventId event : trace.recorded_events())
    if (trace.phase(event) == Phase::kComplete && trace.category(event) != Category::kTraceSpan &&
        trace.ts_ns()[event.row] != kAbsent)
      first = std::min(first, trace.ts_ns()[event.row]);
  return first == std::numeric_limits<std::int64_t>::max() ? 0 : first;
}

std::vector<HostStep> find_host_steps(const TraceFacts& facts) {
  const Trace& trace = facts.trace();
  std::vector<HostStep> steps;
  for (const Step& step : marked_steps(trace, recorded_rows(trace, facts.rows().annotations())))
    steps.push_back({step.name, step.ts_ns, end_of(step.ts_ns, step.dur_ns)});
  if (steps.empty())
    for (const EventId event : find_step_roots(trace))
      steps.push_back(
          {std::string{trace.name(event)}, trace.ts_ns()[event.row], end_of(trace, event)});
  if (steps.empty())
    for (const IterationRoot& root : find_iterations(trace, facts.tree()))
      steps.push_back(
          {std::string{trace.name(root.first)}, root.ts_ns, end_of(root.ts_ns, root.dur_ns)});
  if (steps.empty()) {
    const TraceSpan span = trace_span(trace);
    steps.push_back({"whole trace", span.start_ns, span.end_ns});
  }
  std::ranges::stable_sort(steps, {}, &HostStep::start_ns);
  return steps;
}

}  // namespace

HostWork::HostWork(const TraceFacts& facts)
    : facts_{facts}, kinds_{facts.calls()}, calls_{complete_calls(facts)} {
  const Trace& trace = facts.trace();
  origin_ns_ = first_start(trace);
  const std::vector<EventId>& events = facts.gpu_events(true).events;
  const std::vector<std::int64_t> devices = gather(trace.devices(), events);
  const std::vector<std::int64_t> streams = gather(trace.streams(), events);
  LaunchCalls launches{trace, facts.tree()};
  jobs_.reserve(events.size());
  launched_.reserve(events.size());
  has_work_.resize(trace.size());
  is_staged_.resize(trace.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventId call = launches.of(events[i]);
    jobs_.push_back({events[i], call,
                     devices[i] == kAbsent ? trace.track(events[i]).pid.as_int() : devices[i],
                     streams[i] == kAbsent ? trace.track(events[i]).tid.as_int() : streams[i]});
    several_devices_ = several_devices_ || jobs_[i].device != jobs_[0].device;
    if (!call.valid()) continue;
    launched_.push_back(static_cast<std::uint32_t>(i));
    has_work_[call.row] = true;
    if (trace.category(events[i]) == Category::kGpuMemcpy &&
        is_pageable_copy(trace.name(events[i])))
      is_staged_[call.row] = true;
  }
  std::vector<std::uint32_t> scratch;
  merge_runs(std::span{launched_}, scratch,
             [this](std::uint32_t a, std::uint32_t b) { return jobs_[a].call < jobs_[b].call; });
  for (const EventId call : calls_)
    if (class_of(call) == CallClass::kSync) sync_calls_.push_back(call);
  std::ranges::stable_sort(sync_calls_, {}, [&](EventId call) { return trace.ts_ns()[call.row]; });
}

std::span<const std::uint32_t> HostWork::launched_by(EventId call) const {
  const auto call_of_job = [this](std::uint32_t job) { return jobs_[job].call; };
  const auto first = std::ranges::lower_bound(launched_, call, {}, call_of_job);
  const auto last = std::ranges::upper_bound(launched_, call, {}, call_of_job);
  return {first, last};
}

EventId HostWork::op_of(const GpuJob& job) const {
  const Tree& tree = facts_.tree();
  NodeId op;
  if (const NodeId node = tree.node(job.gpu); node.valid())
    op = find_launcher(trace(), tree, node);
  else if (const NodeId call = job.call.valid() ? tree.node(job.call) : NodeId{}; call.valid())
    op = tree.nearest_op(call);
  if (!op.valid() || trace().category(tree.event(op)) != Category::kCpuOp) return {};
  return tree.event(op);
}

CallClass HostWork::class_of(EventId call) const {
  const CallClass by_name = kinds_.of(call);
  if (by_name == CallClass::kSync || is_staged_[call.row]) return CallClass::kSync;
  if (by_name == CallClass::kAlloc || by_name == CallClass::kFree) return by_name;
  if (has_work_[call.row]) return CallClass::kLaunch;
  return by_name == CallClass::kLaunch && !launched_.empty() ? CallClass::kOther : by_name;
}

std::span<const HostStep> HostWork::steps() const {
  return steps_.get([this] { return find_host_steps(facts_); });
}

std::size_t HostWork::step_at(std::int64_t ns) const {
  const OpenSteps& open = open_steps_.get([this] {
    std::vector<Interval> times;
    for (const HostStep& step : steps()) times.push_back({step.start_ns, plus_ns(step.end_ns, 1)});
    return OpenSteps{times};
  });
  return open.at(ns);
}

const HostRanges& HostWork::ranges() const { return facts_.host_ranges(); }

const HostRows& HostWork::rows() const { return facts_.called_rows(); }

}  // namespace tracelens
