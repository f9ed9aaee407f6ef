#include "analysis/gpu/timeline.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/gpu/recompute.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

const ColumnSpec kType{"type", Kind::kText, "",
                       "what the time is: computation_time, exposed_comm_time and "
                       "exposed_memcpy_time add up to busy_time, with idle_time to total_time"};
const ColumnSpec kTime{"time ms", Kind::kReal, "ms", "time of this kind"};
const ColumnSpec kPercent{"percent", Kind::kReal, "%", "share of total_time"};
const ColumnSpec kIsRecompute{"is_recompute", Kind::kBool, "",
                              "work that activation checkpointing did a second time"};
const ColumnSpec kDevice{"device", Kind::kText, "", "GPU as numbered by the profiler, or all"};

}  // namespace

GpuTimes gpu_times(const Trace& trace, std::span<const EventId> events,
                   std::optional<std::int64_t> micro_idle_us) {
  return gpu_times(TraceFacts{trace}, events, {.micro_idle_threshold_us = micro_idle_us});
}

GpuTimes gpu_times(const TraceFacts& facts, std::span<const EventId> events,
                   const TimelineOptions& options) {
  if (events.empty()) return {};
  const GpuWorkKinds& kinds = facts.work();
  std::array<std::vector<Interval>, 3> by_kind;
  std::vector<Interval> any;
  any.reserve(events.size());
  for (const EventId event : events) {
    const Interval interval = interval_of(facts.trace(), event);
    by_kind[static_cast<std::size_t>(kinds.of(event))].push_back(interval);
    any.push_back(interval);
  }
  const auto merged = [&](GpuWork kind) {
    return merge(std::move(by_kind[static_cast<std::size_t>(kind)]));
  };
  const std::vector<Interval> computation = merged(GpuWork::kComputation);
  const std::vector<Interval> comm = merged(GpuWork::kCommunication);
  const std::vector<Interval> copy = merged(GpuWork::kCopy);
  const std::vector<Interval> all = merge(std::move(any));

  GpuTimes times;
  times.computation = length(computation);
  times.exposed_comm = length(subtract(comm, computation));
  times.exposed_copy = length(subtract(subtract(copy, computation), comm));
  times.busy = length(all);
  times.total = minus_ns(all.back().end, all.front().start);
  times.comm = length(comm);
  times.copy = length(copy);
  const double threshold_ns =
      static_cast<double>(options.micro_idle_threshold_us.value_or(0)) * 1e3;
  for (const Interval& gap : gaps_between(all)) {
    const bool is_micro = static_cast<double>(length(gap)) < threshold_ns;
    std::int64_t& idle = is_micro ? times.micro_idle : times.macro_idle;
    idle = plus_ns(idle, length(gap));
  }
  return times;
}

namespace {

// Calls add(type, ms, percent) for each row of a block.
template <class Add>
void for_each_row(const GpuTimes& times, const TimelineOptions& options, Add&& add) {
  const auto row = [&](std::string_view type, std::int64_t ns) {
    const double ms = static_cast<double>(ns) / 1e6;
    if (times.total == 0)
      add(type, ms, std::optional<double>{});
    else
      add(type, ms,
          std::optional{static_cast<double>(ns) / static_cast<double>(times.total) * 100});
  };
  row("computation_time", times.computation);
  row("exposed_comm_time", times.exposed_comm);
  row("exposed_memcpy_time", times.exposed_copy);
  row("busy_time", times.busy);
  if (options.micro_idle_threshold_us) {
    row("micro_idle_time", times.micro_idle);
    row("macro_idle_time", times.macro_idle);
  } else {
    row("idle_time", plus_ns(times.micro_idle, times.macro_idle));
  }
  row("total_time", times.total);
  row("total_comm_time", times.comm);
  row("total_memcpy_time", times.copy);
}

// The GPU an event ran on: its argument, or the process it is listed under.
std::vector<std::int64_t> devices_of(const Trace& trace, std::span<const EventId> events) {
  std::vector<std::int64_t> devices = gather(trace.devices(), events);
  for (std::size_t i = 0; i < events.size(); ++i)
    if (devices[i] == kAbsent) devices[i] = trace.track(events[i]).pid.as_int();
  return devices;
}

constexpr std::string_view kDescription =
    "What the GPU's time went to, from its first event to its last";

}  // namespace

Table timeline_table(const GpuTimes& times, std::string description,
                     const TimelineOptions& options) {
  const ColumnSpec columns[] = {kType, kTime, kPercent};
  Table table{"gpu_timeline", std::move(description), columns};
  for_each_row(times, options, [&](auto... cells) { table.add_row(cells...); });
  return table;
}

Timeline gpu_timeline(const TraceFacts& facts, const TimelineOptions& options) {
  std::vector<ColumnSpec> columns{kType, kTime, kPercent};
  if (options.split_recompute) columns.push_back(kIsRecompute);
  Timeline out{Table{"gpu_timeline", std::string{kDescription}, columns}, 0, {}};

  const GpuSelection& selection = facts.gpu_events(options.include_unlinked);
  if (selection.events.empty())
    out.warnings.emplace_back("the trace has no GPU events: all GPU times are 0");
  if (selection.fell_back)
    out.warnings.emplace_back(
        "no GPU event is linked to a launch: the timeline counts the unlinked ones");

  if (!options.split_recompute) {
    const GpuTimes times = gpu_times(facts, selection.events, options);
    out.total_ns = times.total;
    for_each_row(times, options, [&](auto... cells) { out.table.add_row(cells...); });
    return out;
  }
  const Tree& tree = facts.tree();
  const RecomputeMarks marks = mark_recompute(facts.trace(), tree);
  std::vector<EventId> events = selection.events;
  const auto recomputed = std::stable_partition(events.begin(), events.end(), [&](EventId event) {
    return !marks.is_recompute(tree.node(event));
  });
  const auto add_block = [&](std::span<const EventId> block, bool is_recompute) {
    const GpuTimes times = gpu_times(facts, block, options);
    if (out.table.rows() == 0) out.total_ns = times.total;
    for_each_row(times, options, [&](auto... cells) { out.table.add_row(cells..., is_recompute); });
  };
  const std::span<const EventId> first{events.begin(), recomputed};
  const std::span<const EventId> again{recomputed, events.end()};
  if (!first.empty() || again.empty()) add_block(first, false);
  if (!again.empty()) add_block(again, true);
  return out;
}

std::optional<Table> gpu_timeline_by_device(const TraceFacts& facts,
                                            const TimelineOptions& options) {
  const std::vector<EventId>& events = facts.gpu_events(options.include_unlinked).events;
  const std::vector<std::int64_t> devices = devices_of(facts.trace(), events);
  if (std::ranges::adjacent_find(devices, std::not_equal_to{}) == devices.end())
    return std::nullopt;
  std::vector<std::pair<std::int64_t, EventId>> by_device;
  for (std::size_t i = 0; i < events.size(); ++i) by_device.emplace_back(devices[i], events[i]);
  std::ranges::sort(by_device);  // by device, then in file order

  const ColumnSpec columns[] = {kDevice, kType, kTime, kPercent};
  Table table{"gpu_timeline_by_device",
              "What the time of each GPU went to, and of all together, from the first GPU event to "
              "the last",
              columns};
  const auto add_block = [&](std::string_view device, std::span<const EventId> of_device) {
    for_each_row(gpu_times(facts, of_device, options), options,
                 [&](auto... cells) { table.add_row(device, cells...); });
  };
  std::vector<EventId> subset;
  for (std::size_t i = 0; i < by_device.size(); ++i) {
    subset.push_back(by_device[i].second);
    if (i + 1 < by_device.size() && by_device[i + 1].first == by_device[i].first) continue;
    add_block(std::to_string(by_device[i].first), subset);
    subset.clear();
  }
  add_block("all", events);
  return table;
}

}  // namespace tracelens
