#include "analysis/jax/timeline.hpp"

#include <array>
#include <map>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <utility>
#include <vector>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/jax/hosts.hpp"
#include "analysis/kit/cells.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::array<std::string_view, 8> kTypes = {
    "computation_time", "exposed_comm_time", "exposed_memcpy_time", "busy_time",
    "idle_time",        "total_time",        "total_comm_time",     "total_memcpy_time"};
constexpr std::size_t kTotal = 5;

const ColumnSpec kType{"type", Kind::kText, "", "what the time is"};
const ColumnSpec kTime{"time ms", Kind::kReal, "ms", "time of this kind"};
const ColumnSpec kPercent{"percent", Kind::kReal, "%", "share of total_time"};
const ColumnSpec kGpuPid{"gpu_pid", Kind::kInteger, "id", "1 + number of the GPU"};

// Nanoseconds, in the order of kTypes.
using Times = std::array<std::int64_t, kTypes.size()>;

struct Intervals {
  std::vector<Interval> computation, communication, copies, all;

  std::vector<Interval>& of(GpuWork kind) {
    if (kind == GpuWork::kCopy) return copies;
    return kind == GpuWork::kCommunication ? communication : computation;
  }
};

// A kernel is never a copy here, whatever its name: ROCm's copy kernels compute, too.
GpuWork reference_kind(const Trace& trace, EventId event, const GpuWorkKinds& kinds) {
  if (trace.category(event) != Category::kKernel) return GpuWork::kCopy;
  return kinds.is_communication(event) ? GpuWork::kCommunication : GpuWork::kComputation;
}

Times measure(Intervals of) {
  const auto computation = merge(std::move(of.computation));
  const auto communication = merge(std::move(of.communication));
  const auto copies = merge(std::move(of.copies));
  const auto all = merge(std::move(of.all));
  const std::int64_t busy = length(all), total = minus_ns(all.back().end, all.front().start);
  return {length(computation),
          length(subtract(communication, computation)),
          length(subtract(subtract(copies, computation), communication)),
          busy,
          minus_ns(total, busy),
          total,
          length(communication),
          length(copies)};
}

}  // namespace

JaxTimeline jax_timeline(const TraceFacts& facts, Edition edition) {
  const Trace& trace = facts.trace();
  const GpuWorkKinds& kinds = facts.work();
  const bool is_reference = edition == Edition::kReference;
  std::map<std::int64_t, Intervals> gpus;
  for (const EventId event : trace.all_events()) {
    if (!is_gpu(trace.category(event)) || trace.ts_ns()[event.row] == kAbsent) continue;
    Intervals& gpu = gpus[trace.track(event).pid.as_int()];
    const Interval interval = interval_of(trace, event);
    gpu.all.push_back(interval);
    gpu.of(is_reference ? reference_kind(trace, event, kinds) : kinds.of(event))
        .push_back(interval);
  }
  const JaxHosts hosts{trace};
  std::vector<ColumnSpec> by_gpu_columns{kType, kTime, kPercent, kGpuPid};
  if (hosts.are_several()) by_gpu_columns.push_back(kJaxHostColumn);
  const ColumnSpec average_columns[] = {kType, kTime, kPercent};
  JaxTimeline out{
      Table{is_reference ? "gpu_timeline" : "gpu_timeline_by_device",
            "What the time of each GPU went to, from its first event to its last", by_gpu_columns},
      Table{"gpu_events_averages", "What the time of a GPU went to, on average over all GPUs",
            average_columns},
      gpus.size()};
  Times sum{};
  for (auto& [pid, intervals] : gpus) {
    const Times times = measure(std::move(intervals));
    for (std::size_t i = 0; i < times.size(); ++i) {
      sum[i] = plus_ns(sum[i], times[i]);
      RowCells row;
      row.add(kTypes[i]);
      row.add(static_cast<double>(times[i]) / 1e6);
      row.add(percent_of(times[i], times[kTotal]));
      row.add(pid);
      if (hosts.are_several()) row.add(hosts.name(JaxHosts::number(Value{pid})));
      out.by_gpu.append(row.cells());
    }
  }
  for (std::size_t i = 0; i < sum.size() && !gpus.empty(); ++i)
    out.averages.add_row(kTypes[i],
                         static_cast<double>(sum[i]) / 1e6 / static_cast<double>(gpus.size()),
                         percent_of(sum[i], sum[kTotal]));
  return out;
}

Timeline jax_gpu_timeline(const TraceFacts& facts, const TimelineOptions& options) {
  std::map<std::int64_t, std::vector<EventId>> hosts;
  for (const EventId event : facts.gpu_events(options.include_unlinked).events)
    hosts[JaxHosts::number(facts.trace(), event)].push_back(event);
  if (hosts.size() < 2) return gpu_timeline(facts, options);
  constexpr std::int64_t GpuTimes::*kParts[] = {
      &GpuTimes::computation, &GpuTimes::exposed_comm, &GpuTimes::exposed_copy,
      &GpuTimes::busy,        &GpuTimes::total,        &GpuTimes::micro_idle,
      &GpuTimes::macro_idle,  &GpuTimes::comm,         &GpuTimes::copy};
  GpuTimes mean;
  for (const auto& [host, events] : hosts) {
    const GpuTimes times = gpu_times(facts, events, options);
    for (const auto part : kParts) mean.*part = plus_ns(mean.*part, times.*part);
  }
  for (const auto part : kParts) mean.*part /= static_cast<std::int64_t>(hosts.size());
  return {timeline_table(mean,
                         "What the time of the GPUs of a host went to, from their first event to "
                         "their last: the mean over the hosts",
                         options),
          mean.total,
          {}};
}

}  // namespace tracelens
