#include "analysis/host/utilization.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <utility>
#include <vector>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/host/distribution.hpp"
#include "analysis/host/lane_columns.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kChunks = 30;

struct Chunk {
  Interval time;
  std::int64_t busy_ns = 0;
  [[nodiscard]] bool is_low() const { return busy_ns < minus_ns(length(time), busy_ns); }
};

std::vector<Chunk> chunks_of(const std::vector<Interval>& busy) {
  const Interval span{busy.front().start, busy.back().end};
  const std::int64_t size = length(span) / kChunks + (length(span) % kChunks == 0 ? 0 : 1);
  std::vector<Chunk> chunks;
  std::size_t at = 0;
  for (std::int64_t start = span.start; size > 0 && start < span.end;) {
    Chunk chunk{{start, std::min(end_of(start, size), span.end)}};
    while (at < busy.size() && busy[at].end <= start) ++at;
    for (std::size_t i = at; i < busy.size() && busy[i].start < chunk.time.end; ++i)
      chunk.busy_ns = plus_ns(chunk.busy_ns, length({std::max(busy[i].start, chunk.time.start),
                                                     std::min(busy[i].end, chunk.time.end)}));
    start = chunk.time.end;
    if (!chunks.empty() && chunks.back().is_low() && chunk.is_low()) {
      chunks.back().time.end = chunk.time.end;
      chunks.back().busy_ns = plus_ns(chunks.back().busy_ns, chunk.busy_ns);
    } else {
      chunks.push_back(chunk);
    }
  }
  return chunks;
}

enum class StreamGap : std::uint8_t { kHostWait, kKernelWait, kOther };
constexpr std::array<std::string_view, 3> kStreamGapNames = {"host_wait", "kernel_wait", "other"};

}  // namespace

Table gpu_utilization(const HostWork& work) {
  struct Row {
    std::int64_t device, origin_ns;
    Chunk chunk;
  };
  ColumnSet<Row> columns{
      {device_column(), &Row::device, work.several_devices()},
      {{"start_ms", Kind::kReal, "ms", "from here on, since the trace began"},
       [](const Row& row) { return ms(minus_ns(row.chunk.time.start, row.origin_ns)); }},
      {{"duration_ms", Kind::kReal, "ms", "for so long"},
       [](const Row& row) { return ms(length(row.chunk.time)); }},
      {{"busy_percent", Kind::kReal, "%",
        "share of this in which at least one of its streams worked"},
       [](const Row& row) { return percent_of(row.chunk.busy_ns, length(row.chunk.time)); }}};
  Table table =
      columns.make_table("gpu_utilization", "How busy each GPU was, in 30 parts of its time");
  std::map<std::int64_t, std::vector<Interval>> busy;  // by device
  for (const GpuJob& job : work.jobs())
    busy[job.device].push_back(interval_of(work.trace(), job.gpu));
  for (auto& [device, intervals] : busy)
    for (const Chunk& chunk : chunks_of(merge(std::move(intervals))))
      columns.append(table, Row{device, work.origin_ns(), chunk});
  return table;
}

Table gpu_gaps_by_stream(const HostWork& work) {
  constexpr std::int64_t kUsualNs = 30'000;
  struct Row {
    std::int64_t device, stream;
    std::string_view category;
    std::int64_t idle_ns, all_ns;
    Distribution intervals;
  };
  ColumnSet<Row> columns{
      {device_column(), &Row::device, work.several_devices()},
      {stream_column(), &Row::stream},
      {{"idle_category", Kind::kText, "",
        "host_wait: the call came only after the event before had ended; kernel_wait: it had come, and "
        "the next event began within 30 µs; other: it began later"},
       &Row::category},
      {{"idle_time", Kind::kReal, "µs",
        "time between neighbours; events that overlap count below 0"},
       [](const Row& row) { return us(row.idle_ns); }},
      {{"idle_time_ratio", Kind::kReal, "", "share of the stream's idle time"}, [](const Row& row) {
         const auto percent = percent_of(row.idle_ns, row.all_ns);
         return percent ? std::optional{*percent / 100} : std::nullopt;
       }}};
  add_distribution_columns(columns, &Row::intervals, "µs", "times between neighbours");
  Table table = columns.make_table(
      "gpu_gaps_by_stream", "Idle time between the events of each stream, and what it waited for");
  const Trace& trace = work.trace();
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<const GpuJob*>> lanes;
  for (const GpuJob& job : work.jobs()) lanes[{job.device, job.stream}].push_back(&job);
  for (auto& [lane, jobs] : lanes) {
    std::ranges::stable_sort(jobs, {},
                             [&](const GpuJob* job) { return trace.ts_ns()[job->gpu.row]; });
    std::array<std::vector<double>, 3> intervals;
    std::array<std::int64_t, 3> sums{};
    for (std::size_t i = 1; i < jobs.size(); ++i) {
      const std::int64_t before = end_of(trace, jobs[i - 1]->gpu);
      const std::int64_t ns = minus_ns(trace.ts_ns()[jobs[i]->gpu.row], before);
      StreamGap kind = ns < kUsualNs ? StreamGap::kKernelWait : StreamGap::kOther;
      if (jobs[i]->call.valid() && trace.ts_ns()[jobs[i]->call.row] > before)
        kind = StreamGap::kHostWait;
      const auto at = static_cast<std::size_t>(kind);
      intervals[at].push_back(us(ns));
      sums[at] = plus_ns(sums[at], ns);
    }
    const std::int64_t all = plus_ns(plus_ns(sums[0], sums[1]), sums[2]);
    for (std::size_t i = 0; i < kStreamGapNames.size(); ++i)
      if (!intervals[i].empty())
        columns.append(table, Row{lane.first, lane.second, kStreamGapNames[i], sums[i], all,
                                  distribution_of(intervals[i])});
  }
  return table;
}

}  // namespace tracelens
