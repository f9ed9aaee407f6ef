#include "analysis/serving/run.hpp"

#include <algorithm>
#include <limits>
#include <tracelens/intervals.hpp>
#include <tuple>
#include <utility>

#include "facts/launchers.hpp"
#include "facts/serving_steps.hpp"
#include "tree/links.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

std::int64_t add_counts(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

void ServedTimes::add(const ServedTimes& more) {
  busy_ns = plus_ns(busy_ns, more.busy_ns);
  idle_ns = plus_ns(idle_ns, more.idle_ns);
  wait_ns = plus_ns(wait_ns, more.wait_ns);
  exposed_comm_ns = plus_ns(exposed_comm_ns, more.exposed_comm_ns);
  launch_ns = plus_ns(launch_ns, more.launch_ns);
  gpu_events += more.gpu_events;
  launches += more.launches;
  graph_launches += more.graph_launches;
}

std::optional<std::int64_t> ServedStep::kv_tokens() const {
  const double keys = said.tokens.context.sk + said.tokens.generation.sk;
  constexpr double kMost = 9e18;
  if (keys <= 0) return std::nullopt;
  return static_cast<std::int64_t>(std::min(keys, kMost));
}

ServingRun::ServingRun(const TraceFacts& facts, bool include_unlinked)
    : facts_{facts}, trace_{facts.trace()} {
  find_steps();
  if (steps_.empty()) return;
  divide_time(facts.gpu_events(include_unlinked).events);
  divide_exposed_communication();
  add_launches();
}

void ServingRun::find_steps() {
  for (const EventId root : find_step_roots(trace_))
    if (const auto said = parse_step_annotation(trace_.name(root));
        said && trace_.ts_ns()[root.row] != kAbsent)
      steps_.push_back({.said = *said,
                        .start_ns = trace_.ts_ns()[root.row],
                        .end_ns = end_of(trace_, root),
                        .gpu = {}});
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const bool is_last = i + 1 == steps_.size();
    steps_[i].wall_ns =
        minus_ns(is_last ? steps_[i].end_ns : steps_[i + 1].start_ns, steps_[i].start_ns);
    latest_ends_.push_back(i == 0 ? steps_[i].end_ns
                                  : std::max(latest_ends_.back(), steps_[i].end_ns));
  }
}

std::size_t ServingRun::step_at(std::int64_t ns) const {
  // The first step that ends later is the first to raise the latest end above the time.
  const auto found = std::ranges::upper_bound(latest_ends_, ns);
  const auto step = static_cast<std::size_t>(found - latest_ends_.begin());
  return found != latest_ends_.end() && steps_[step].start_ns <= ns ? step : steps_.size();
}

std::size_t ServingRun::step_of(EventId gpu_event) const {
  const Tree& tree = facts_.tree();
  const EventId launch = tree.is_linked(gpu_event) ? tree.launch_of(gpu_event) : EventId{};
  return step_at(trace_.ts_ns()[launch.valid() ? launch.row : gpu_event.row]);
}

bool ServingRun::has_tokens() const {
  return std::ranges::any_of(steps_, [](const ServedStep& step) { return step.tokens() > 0; });
}

bool ServingRun::has_contexts() const {
  return std::ranges::any_of(steps_,
                             [](const ServedStep& step) { return step.kv_tokens().has_value(); });
}

void ServingRun::divide_time(std::span<const EventId> events) {
  work_.reserve(events.size());
  for (const EventId event : events)
    work_.push_back({event, static_cast<std::uint32_t>(step_of(event))});
  std::ranges::stable_sort(work_, {},
                           [&](const ServedWork& work) { return trace_.ts_ns()[work.event.row]; });
  std::int64_t covered = work_.empty() ? 0 : trace_.ts_ns()[work_.front().event.row];
  for (ServedWork& work : work_) {
    const std::int64_t start = trace_.ts_ns()[work.event.row], end = end_of(trace_, work.event);
    ServedTimes& times = times_of(work.step);
    if (start > covered) {
      times.idle_ns = plus_ns(times.idle_ns, minus_ns(start, covered));
      covered = start;
    }
    if (end > covered) {
      work.busy_ns = minus_ns(end, covered);
      times.busy_ns = plus_ns(times.busy_ns, work.busy_ns);
      covered = end;
    }
    ++times.gpu_events;
    if (work.step + 1 == steps_.size())
      steps_.back().wall_ns =
          std::max(steps_.back().wall_ns, minus_ns(end, steps_.back().start_ns));
    if (work.step < steps_.size() && !steps_[work.step].first_gpu_ns)
      steps_[work.step].first_gpu_ns = start;
  }
  if (!work_.empty()) add_waits(covered);
}

void ServingRun::add_waits(std::int64_t gpu_end_ns) {
  const std::int64_t start = steps_.front().start_ns;
  const std::int64_t end = plus_ns(steps_.back().start_ns, steps_.back().wall_ns);
  const auto wait = [](ServedTimes& times, std::int64_t from, std::int64_t to) {
    if (to > from) times.wait_ns = plus_ns(times.wait_ns, minus_ns(to, from));
  };
  const std::int64_t first_ns = trace_.ts_ns()[work_.front().event.row];
  wait(times_of(work_.front().step), start, std::min(first_ns, end));
  wait(steps_.back().gpu, std::max(gpu_end_ns, start), end);
}

void ServingRun::divide_exposed_communication() {
  const GpuWorkKinds& kinds = facts_.work();
  std::vector<Interval> intervals;
  for (const ServedWork& work : work_)
    if (kinds.of(work.event) == GpuWork::kComputation)
      intervals.push_back({trace_.ts_ns()[work.event.row], end_of(trace_, work.event)});
  const std::vector<Interval> computation = merge(std::move(intervals));
  auto next = computation.begin();
  std::int64_t covered = std::numeric_limits<std::int64_t>::min();
  for (const ServedWork& work : work_) {
    if (kinds.of(work.event) != GpuWork::kCommunication) continue;
    const std::int64_t start = std::max(covered, trace_.ts_ns()[work.event.row]);
    const std::int64_t end = end_of(trace_, work.event);
    if (end <= start) continue;
    covered = end;
    std::int64_t exposed = minus_ns(end, start);
    while (next != computation.end() && next->end <= start) ++next;
    for (; next != computation.end() && next->start < end; ++next) {
      exposed = minus_ns(exposed, minus_ns(std::min(end, next->end), std::max(start, next->start)));
      if (next->end > end) break;  // it goes on beside the next one
    }
    ServedTimes& times = times_of(work.step);
    times.exposed_comm_ns = plus_ns(times.exposed_comm_ns, exposed);
  }
}

void ServingRun::add_launches() {
  std::vector<std::tuple<std::uint32_t, std::int64_t, std::int64_t>> calls;  // step, start, length
  for (const ServedWork& work : work_)
    if (facts_.tree().is_linked(work.event)) {
      const EventId call = recorded_launch_of(trace_, facts_.tree(), work.event);
      if (!call.valid()) continue;
      calls.emplace_back(work.step, trace_.ts_ns()[call.row], duration_of(trace_, call));
    }
  std::ranges::sort(calls);
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  for (const auto& [step, start, length] : calls) {
    ServedTimes& times = times_of(step);
    times.launch_ns = plus_ns(times.launch_ns, length);
    ++times.launches;
  }
  for (const EventId event : trace_.recorded_events()) {
    const Category category = trace_.category(event);
    if ((category == Category::kCudaRuntime || category == Category::kCudaDriver) &&
        trace_.ts_ns()[event.row] != kAbsent && is_graph_launch(trace_.name(event)))
      ++times_of(step_at(trace_.ts_ns()[event.row])).graph_launches;
  }
}

}  // namespace tracelens
