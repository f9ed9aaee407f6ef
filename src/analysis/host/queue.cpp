#include "analysis/host/queue.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/host/distribution.hpp"
#include "analysis/host/lane_columns.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Something joins the queue or leaves it.
struct Change {
  std::uint32_t lane;
  std::int64_t ts_ns;
  bool leaves;
  EventId event;  // the call, or the GPU event
  std::uint32_t job;
  // Times nearly always differ.
  bool operator<(const Change& other) const {
    if (lane != other.lane) return lane < other.lane;
    if (ts_ns != other.ts_ns) return ts_ns < other.ts_ns;
    return std::tuple{leaves, event, job} < std::tuple{other.leaves, other.event, other.job};
  }
};

std::int64_t median_call_ns(const HostWork& work, const QueueLengths& queues, std::size_t lane) {
  std::vector<std::int64_t> durations;
  EventId last;
  for (const std::uint32_t job : work.launched()) {
    const EventId call = work.jobs()[job].call;
    if (queues.lane_of[job] != lane || call == last) continue;
    last = call;
    durations.push_back(duration_of(work.trace(), call));
  }
  if (durations.empty()) return 0;
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::ranges::nth_element(durations, middle);
  return *middle;
}

}  // namespace

QueueLengths queue_lengths(const HostWork& work) {
  const Trace& trace = work.trace();
  QueueLengths out;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> lanes;
  for (const std::uint32_t job : work.launched())
    lanes.try_emplace({work.jobs()[job].device, work.jobs()[job].stream}, 0);
  for (auto& [lane, number] : lanes) {
    number = static_cast<std::uint32_t>(out.lanes.size());
    out.lanes.push_back({.device = lane.first, .stream = lane.second, .changes = {}});
  }
  out.lane_of.assign(work.jobs().size(), static_cast<std::uint32_t>(out.lanes.size()));
  out.at_launch.assign(work.jobs().size(), 0);
  std::vector<Change> changes;
  changes.reserve(2 * work.launched().size());
  for (const std::uint32_t at : work.launched()) {
    const GpuJob& job = work.jobs()[at];
    const std::uint32_t lane = lanes.at({job.device, job.stream});
    out.lane_of[at] = lane;
    const std::int64_t joins_ns = trace.ts_ns()[job.call.row],
                       starts_ns = trace.ts_ns()[job.gpu.row];
    // Work that seems to start before its call leaves when it joins, so that it is not left over.
    if (starts_ns < joins_ns) ++out.lanes[lane].below_zero;
    changes.push_back({lane, joins_ns, false, job.call, at});
    changes.push_back({lane, std::max(starts_ns, joins_ns), true, job.gpu, at});
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t length = 0;
  for (const Change& change : changes) {
    QueueLane& lane = out.lanes[change.lane];
    if (lane.changes.empty()) length = 0;
    if (!change.leaves) {
      out.at_launch[change.job] = ++length;
      lane.most = std::max(lane.most, length);
    } else {
      --length;
    }
    lane.changes.push_back({change.ts_ns, length});
  }
  return out;
}

BlockedCalls blocked_calls(const HostWork& work, const QueueLengths& queues,
                           std::size_t lane_number, std::int64_t limit) {
  constexpr std::int64_t kLeastLength = 512, kLeastNs = 50'000, kTimesMedian = 10;
  const QueueLane& lane = queues.lanes[lane_number];
  BlockedCalls blocked;
  for (std::size_t i = 0; i + 1 < lane.changes.size(); ++i)
    if (lane.changes[i].length >= limit)
      blocked.at_limit_ns =
          plus_ns(blocked.at_limit_ns, minus_ns(lane.changes[i + 1].ts_ns, lane.changes[i].ts_ns));
  blocked.span_ns = minus_ns(lane.changes.back().ts_ns, lane.changes.front().ts_ns);
  if (lane.most < kLeastLength) return blocked;
  const std::int64_t median = median_call_ns(work, queues, lane_number);
  EventId last;
  for (const std::uint32_t job : work.launched()) {
    const EventId call = work.jobs()[job].call;
    if (queues.lane_of[job] != lane_number || call == last) continue;
    last = call;
    const std::int64_t ns = duration_of(work.trace(), call);
    if (ns / kTimesMedian < median || ns <= std::max(times_ns(median, kTimesMedian), kLeastNs) ||
        queues.at_launch[job] * 10 < lane.most * 9)
      continue;
    ++blocked.calls;
    blocked.blocked_ns = plus_ns(blocked.blocked_ns, minus_ns(ns, median));
  }
  return blocked;
}

Table queue_length(const HostWork& work, const QueueLengths& queues) {
  struct Row {
    const QueueLane* lane;
    Distribution lengths;
    std::optional<double> time_mean = {}, at_zero = {}, time_p50 = {}, time_p90 = {};
  };
  ColumnSet<Row> columns;
  columns.add(
      device_column(), [](const Row& row) { return row.lane->device; }, work.several_devices());
  columns.add(stream_column(), [](const Row& row) { return row.lane->stream; });
  add_distribution_columns(columns, &Row::lengths, "",
                           "lengths the queue had, one after each launch and each start");
  columns.add({"time_mean", Kind::kReal, "", "mean length over time"}, &Row::time_mean);
  columns.add({"time_at_zero_pct", Kind::kReal, "%", "share of the time in which nothing waited"},
              &Row::at_zero);
  columns.add({"time_p50", Kind::kReal, "", "half of the time it was not longer"}, &Row::time_p50);
  columns.add({"time_p90", Kind::kReal, "", "90% of the time it was not longer"}, &Row::time_p90);
  columns.add(
      {"started_early", Kind::kInteger, "",
       "work that seemed to start before it was launched: the clocks of host and GPU differ"},
      [](const Row& row) { return row.lane->below_zero; });
  Table table = columns.make_table("queue_length", "How much launched work waited on each stream");
  for (const QueueLane& lane : queues.lanes) {
    std::vector<double> lengths;
    std::vector<std::pair<std::int64_t, std::int64_t>> times;  // length, how long
    double time = 0, weighted = 0, at_zero = 0;
    for (std::size_t i = 0; i < lane.changes.size(); ++i) {
      const std::int64_t length = lane.changes[i].length;
      lengths.push_back(static_cast<double>(length));
      if (i + 1 == lane.changes.size()) break;
      const std::int64_t ns = minus_ns(lane.changes[i + 1].ts_ns, lane.changes[i].ts_ns);
      times.emplace_back(length, ns);
      time += static_cast<double>(ns);
      weighted += static_cast<double>(length) * static_cast<double>(ns);
      if (length == 0) at_zero += static_cast<double>(ns);
    }
    Row row{.lane = &lane, .lengths = distribution_of(lengths)};
    if (time > 0) {
      row.time_mean = weighted / time;
      row.at_zero = at_zero / time * 100;
      std::ranges::sort(times);
      double so_far = 0;
      for (const auto& [length, ns] : times) {
        so_far += static_cast<double>(ns);
        if (!row.time_p50 && so_far >= 0.5 * time) row.time_p50 = static_cast<double>(length);
        if (!row.time_p90 && so_far >= 0.9 * time) row.time_p90 = static_cast<double>(length);
      }
    }
    columns.append(table, row);
  }
  return table;
}

Table queue_length_series(const HostWork& work, const QueueLengths& queues) {
  struct Row {
    const QueueLane* lane;
    QueueChange change;
    std::int64_t origin_ns;
  };
  ColumnSet<Row> columns{
      {{"ts", Kind::kReal, "µs", "time since the trace began"},
       [](const Row& row) { return us(minus_ns(row.change.ts_ns, row.origin_ns)); }},
      {device_column(), [](const Row& row) { return row.lane->device; }},
      {stream_column(), [](const Row& row) { return row.lane->stream; }},
      {{"queue_length", Kind::kInteger, "", "work that was launched and not started, from here on"},
       [](const Row& row) { return row.change.length; }}};
  Table table =
      columns.make_table("queue_length_series", "How much launched work waited, change by change");
  for (const QueueLane& lane : queues.lanes)
    for (const QueueChange& change : lane.changes)
      columns.append(table, Row{&lane, change, work.origin_ns()});
  return table;
}

Table queue_blocked(const HostWork& work, const QueueLengths& queues) {
  struct Row {
    const QueueLane* lane;
    BlockedCalls blocked;
  };
  ColumnSet<Row> columns;
  columns.add(
      device_column(), [](const Row& row) { return row.lane->device; }, work.several_devices());
  columns.add(stream_column(), [](const Row& row) { return row.lane->stream; });
  columns.add({"max_length", Kind::kInteger, "", "the greatest length of the queue"},
              [](const Row& row) { return row.lane->most; });
  columns.add({"time_at_limit_ms", Kind::kReal, "ms", "how long 1024 or more launches waited"},
              [](const Row& row) { return ms(row.blocked.at_limit_ns); });
  columns.add(
      {"percent_at_limit", Kind::kReal, "%",
       "share of the time from the stream's first launch to its last start"},
      [](const Row& row) { return percent_of(row.blocked.at_limit_ns, row.blocked.span_ns); });
  columns.add({"calls_blocked", Kind::kInteger, "",
               "launches that took more than 10 times the median and 50 µs while the queue was "
               "nearly as long as it ever was, and at least 512"},
              [](const Row& row) { return row.blocked.calls; });
  columns.add({"blocked_ms", Kind::kReal, "ms", "what those took beyond the median"},
              [](const Row& row) { return ms(row.blocked.blocked_ns); });
  Table table =
      columns.make_table("queue_blocked", "Streams whose launch queue was full, and what it cost");
  for (std::size_t lane = 0; lane < queues.lanes.size(); ++lane)
    columns.append(table, Row{&queues.lanes[lane], blocked_calls(work, queues, lane)});
  return table;
}

}  // namespace tracelens
