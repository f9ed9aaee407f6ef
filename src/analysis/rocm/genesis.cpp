#include "analysis/rocm/genesis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <vector>

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

std::string last_seconds(std::int64_t ns) {
  return fmt::format("last_{:.1f}s", static_cast<double>(ns) / 1e9);
}

// What ran from `cutoff` on; `kernels` by start.
SteadyState from(std::int64_t cutoff, const std::vector<Interval>& kernels, std::string method) {
  SteadyState steady{.method = std::move(method)};
  const auto first = std::ranges::lower_bound(kernels, cutoff, {}, &Interval::start);
  std::vector<Interval> chosen{first, kernels.end()};
  if (chosen.empty()) return steady;
  steady.dispatches = static_cast<std::int64_t>(chosen.size());
  const std::vector<Interval> busy = merge(std::move(chosen));
  steady.busy_ns = length(busy);
  steady.window_ns = std::max<std::int64_t>(1, minus_ns(busy.back().end, busy.front().start));
  return steady;
}

}  // namespace

std::optional<SteadyState> steady_state(const RocprofKernels& kernels,
                                        const SteadyStateOptions& options) {
  const Trace& trace = kernels.trace;
  std::vector<Interval> times;
  for (const EventId event : kernels.events)
    if (trace.ts_ns()[event.row] != kAbsent)
      times.push_back({trace.ts_ns()[event.row], end_of(trace, event)});
  if (times.empty()) return std::nullopt;
  std::ranges::stable_sort(times, {}, &Interval::start);

  SteadyState after_pause;
  if (times.size() == 1) {
    after_pause = from(times[0].start, times, "single_dispatch");
  } else {
    // Between neighbours by start: an earlier kernel that still runs does not shorten a pause.
    std::size_t longest = 1;
    const auto pause_before = [&](std::size_t i) {
      return minus_ns(times[i].start, times[i - 1].end);
    };
    for (std::size_t i = 2; i < times.size(); ++i)
      if (pause_before(i) > pause_before(longest)) longest = i;
    const std::int64_t pause = pause_before(longest);
    after_pause =
        pause >= options.gap_ns
            ? from(times[longest].start, times,
                   fmt::format("after_max_gap_{:.1f}ms", static_cast<double>(pause) / 1e6))
            : from(minus_ns(times.back().end, options.fallback_ns), times,
                   last_seconds(options.fallback_ns));
  }
  const std::int64_t end = std::ranges::max_element(times, {}, &Interval::end)->end;
  SteadyState at_end =
      from(minus_ns(end, options.fallback_ns), times, last_seconds(options.fallback_ns));
  SteadyState& better = at_end.busy_percent() > after_pause.busy_percent() ? at_end : after_pause;
  if (better.dispatches == 0) return from(times.front().start, times, "all");
  return better;
}

Table steady_timeline(const SteadyState& steady) {
  const ColumnSpec columns[] = {
      {"type", Kind::kText, "", "what the time was spent on"},
      {"time ms", Kind::kReal, "ms", "time in which at least one kernel was running"},
      {"percent", Kind::kReal, "%", "of the part of the profile in which the simulation ran"},
  };
  Table table{"gpu_timeline", "How the time of the simulation divides", columns};
  const auto add = [&](std::string_view type, std::int64_t ns) {
    table.add_row(type, static_cast<double>(ns) / 1e6,
                  static_cast<double>(ns) * 100 / static_cast<double>(steady.window_ns));
  };
  add("total_time", steady.window_ns);
  add("kernel", steady.busy_ns);
  add("memory", 0);
  add("busy_time", steady.busy_ns);
  add("idle", std::max<std::int64_t>(0, steady.window_ns - steady.busy_ns));
  return table;
}

}  // namespace tracelens
