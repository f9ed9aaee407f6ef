#include "analysis/jax_timeline.hpp"

#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/cells.hpp"
#include "analysis/gpu_work.hpp"
#include "analysis/intervals.hpp"
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
};

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

JaxTimeline jax_timeline(const Trace& trace, std::string by_gpu) {
  std::map<std::int64_t, Intervals> gpus;
  GpuWorkKinds kinds{trace};
  for (const EventId event : trace.all_events()) {
    if (!is_gpu(trace.category(event)) || trace.ts_ns()[event.row] == kAbsent) continue;
    Intervals& gpu = gpus[trace.track(event).pid.as_int()];
    const Interval interval = interval_of(trace, event);
    gpu.all.push_back(interval);
    // A kernel is never a copy here, whatever its name: ROCm's copy kernels compute, too.
    const bool is_kernel = trace.category(event) == Category::kKernel;
    (!is_kernel                      ? gpu.copies
     : kinds.is_communication(event) ? gpu.communication
                                     : gpu.computation)
        .push_back(interval);
  }
  const ColumnSpec by_gpu_columns[] = {kType, kTime, kPercent, kGpuPid};
  const ColumnSpec average_columns[] = {kType, kTime, kPercent};
  JaxTimeline out{
      Table{std::move(by_gpu), "What the time of each GPU went to", by_gpu_columns},
      Table{"gpu_events_averages", "What the time of a GPU went to, on average", average_columns}};
  Times sum{};
  for (auto& [pid, intervals] : gpus) {
    const Times times = measure(std::move(intervals));
    for (std::size_t i = 0; i < times.size(); ++i) {
      sum[i] = plus_ns(sum[i], times[i]);
      out.by_gpu.add_row(
          kTypes[i], static_cast<double>(times[i]) / 1e6,
          percent_of(static_cast<double>(times[i]), static_cast<double>(times[kTotal])), pid);
    }
  }
  for (std::size_t i = 0; i < sum.size() && !gpus.empty(); ++i)
    out.averages.add_row(kTypes[i],
                         static_cast<double>(sum[i]) / 1e6 / static_cast<double>(gpus.size()),
                         percent_of(static_cast<double>(sum[i]), static_cast<double>(sum[kTotal])));
  return out;
}

}  // namespace tracelens
