#include "diagnosis/engine/glance.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <tracelens/intervals.hpp>
#include <tracelens/trace_builder.hpp>
#include <vector>

#include "analysis/gpu/launch_calls.hpp"
#include "analysis/path/window.hpp"
#include "facts/steps.hpp"
#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "tree/id_slots.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kLeastSteps = 3;  // fewer say little

// So many steps in a row that take as long as steps usually do.
std::span<const Step> typical(std::span<const Step> steps, std::size_t count) {
  std::vector<std::int64_t> lengths;
  for (const Step& step : steps) lengths.push_back(step.dur_ns);
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, middle);
  const std::int64_t usual = *middle * static_cast<std::int64_t>(count);
  std::int64_t sum = 0, nearest = 0;
  std::size_t best = steps.size();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    sum += steps[i].dur_ns;
    if (i + 1 < count) continue;
    const std::size_t first = i + 1 - count;
    if (best == steps.size() || std::abs(sum - usual) < nearest) {
      best = first;
      nearest = std::abs(sum - usual);
    }
    sum -= steps[first].dur_ns;
  }
  return steps.subspan(best, count);
}

// The middle of a trace without steps.
Interval middle_of(const TraceSpan& all, std::size_t events, std::size_t most_events) {
  const std::int64_t length = all.end_ns - all.start_ns;
  const auto part = static_cast<std::int64_t>(
      static_cast<double>(length) * static_cast<double>(most_events) / static_cast<double>(events));
  return {all.start_ns + (length - part) / 2, all.start_ns + (length + part) / 2};
}

// A part as long as `time` around the launch of the middle one of all GPU events.
Interval around_gpu_work(const TraceFacts& facts, const TraceSpan& all, Interval time) {
  const Trace& trace = facts.trace();
  std::vector<EventId> events = facts.gpu_events(true).events;
  if (events.empty()) return time;
  const auto middle = events.begin() + std::ssize(events) / 2;
  std::ranges::nth_element(events, middle, {},
                           [&](EventId event) { return trace.ts_ns()[event.row]; });
  const EventId call = LaunchCalls{trace, facts.tree()}.of(*middle);
  const std::int64_t ts_ns = trace.ts_ns()[call.valid() ? call.row : middle->row];
  const std::int64_t length = time.end - time.start;
  const std::int64_t start = std::min(ts_ns - length / 2, all.end_ns - length);
  return {std::max(all.start_ns, start), std::max(all.start_ns, start) + length};
}

bool has_gpu_work(const Trace& trace, std::span<const EventId> events) {
  return std::ranges::any_of(events, [&](EventId event) { return is_gpu(trace.category(event)); });
}

// What the host did in that time, and the GPU work that it launched then. Work of which the launch
// was not recorded counts by its own time.
std::vector<EventId> events_in(const TraceFacts& facts, Interval time) {
  const Trace& trace = facts.trace();
  const auto is_inside = [&](EventId event) {
    const std::int64_t start = trace.ts_ns()[event.row], length = trace.dur_ns()[event.row];
    if (start == kAbsent || start >= time.end) return false;
    return start >= time.start || (length != kAbsent && start + length > time.start);
  };
  std::vector<std::int64_t> ids;
  ids.reserve(facts.rows().calls().size());
  for (const std::uint32_t call : facts.rows().calls()) ids.push_back(trace.correlations()[call]);
  const IdSlots slots{ids};
  std::vector<bool> launched(slots.size());  // inside; else outside
  for (const std::uint32_t call : facts.rows().calls())
    if (const std::int64_t id = trace.correlations()[call]; id != kAbsent && is_inside({call}))
      launched[slots.find(id)] = true;
  const auto launch_of = [&](EventId event) {
    const std::int64_t id = trace.correlations()[event.row];
    return id == kAbsent ? IdSlots::kNoSlot : slots.find(id);
  };
  const auto is_kept = [&](EventId event) {
    const std::uint32_t launch =
        is_gpu(trace.category(event)) ? launch_of(event) : IdSlots::kNoSlot;
    return launch == IdSlots::kNoSlot ? is_inside(event) : launched[launch];
  };
  const int threads = io::spare_threads(facts.threads());
  const io::Ranges ranges{threads, trace.size()};
  std::vector<std::vector<EventId>> of_ranges(ranges.parts());
  io::for_each_part(threads, ranges.parts(), [&](std::size_t part) {
    for (auto row = static_cast<std::uint32_t>(ranges.begin(part)); row < ranges.end(part); ++row)
      if (is_kept({row})) of_ranges[part].push_back({row});
  });
  std::vector<EventId> kept;
  for (const std::vector<EventId>& events : of_ranges)
    kept.insert(kept.end(), events.begin(), events.end());
  return kept;
}

}  // namespace

Glance glance(const TraceFacts& facts, const DiagnoseOptions& options, std::size_t most_events) {
  const Trace& trace = facts.trace();
  const TraceSpan all = trace_span(trace, io::spare_threads(facts.threads()));
  Glance seen{.all_ns = all.end_ns - all.start_ns};
  const auto look_at_all = [&] {
    seen.diagnosis = diagnose(trace, options);
    seen.ns = seen.all_ns;
    seen.steps = seen.all_steps = seen.diagnosis.steps.size();
    return seen;
  };
  if (trace.size() <= most_events) return look_at_all();
  const RunWindow window = choose_window(facts, options.steps);
  const std::span<const Step> steps = window.steps;
  seen.all_steps = steps.size();
  const std::size_t wanted = std::max(kLeastSteps, steps.size() * most_events / trace.size());
  if (!steps.empty() && wanted >= steps.size()) return look_at_all();
  Interval time = middle_of(all, trace.size(), most_events);
  if (!steps.empty()) {
    const std::span<const Step> some = typical(steps, wanted);
    time = {some.front().ts_ns, some.back().ts_ns + some.back().dur_ns};
    seen.steps = some.size();
  }
  std::vector<EventId> events = events_in(facts, time);
  if (!has_gpu_work(trace, events)) {
    time = around_gpu_work(facts, all, time);
    events = events_in(facts, time);
    seen.steps = 0;
  }
  seen.ns = time.end - time.start;
  seen.diagnosis = diagnose(TraceBuilder::excerpt(trace, events), options);
  return seen;
}

}  // namespace tracelens
