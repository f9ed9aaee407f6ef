#include "analysis/host/launches.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/host/distribution.hpp"
#include "analysis/host/lane_columns.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "tree/links.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

std::string_view name_or_nothing(const Trace& trace, EventId event) {
  return event.valid() ? trace.name(event) : std::string_view{};
}

// How long each call that takes the runtime's lock ran beside such a call of another thread, by row.
std::unordered_map<std::uint32_t, std::int64_t> contended_ns(const HostWork& work) {
  struct Bound {
    std::int64_t ts_ns;
    bool begins;
    EventId call;
  };
  const Trace& trace = work.trace();
  std::vector<Bound> bounds;
  for (const EventId call : work.calls()) {
    const CallClass kind = work.class_of(call);
    if (kind != CallClass::kLaunch && kind != CallClass::kAlloc && kind != CallClass::kFree)
      continue;
    // Ends come before starts of the same time: a call of no length would end before it began.
    if (duration_of(trace, call) <= 0) continue;
    bounds.push_back({trace.ts_ns()[call.row], true, call});
    bounds.push_back({end_of(trace, call), false, call});
  }
  std::ranges::stable_sort(bounds, {}, [](const Bound& bound) {
    return std::pair{bound.ts_ns, bound.begins};
  });
  std::unordered_map<std::uint32_t, std::int64_t> open_calls;  // by thread
  std::unordered_map<std::uint32_t, std::int64_t> contended;   // by call: first what came before it
  std::int64_t busy_threads = 0, several_ns = 0, now = 0;      // several_ns: two threads or more
  for (const Bound& bound : bounds) {
    if (busy_threads >= 2) several_ns = plus_ns(several_ns, minus_ns(bound.ts_ns, now));
    now = bound.ts_ns;
    std::int64_t& open = open_calls[trace.tracks()[bound.call.row].row];
    if (bound.begins) {
      if (open++ == 0) ++busy_threads;
      contended[bound.call.row] = several_ns;
    } else {
      if (--open == 0) --busy_threads;
      std::int64_t& ns = contended[bound.call.row];
      ns = minus_ns(several_ns, ns);
    }
  }
  return contended;
}

}  // namespace

std::vector<Launch> launches_of(const HostWork& work, const QueueLengths& queues) {
  const Trace& trace = work.trace();
  std::vector<Launch> launches;
  launches.reserve(work.launched().size());
  for (const std::uint32_t at : work.launched()) {
    const GpuJob& job = work.jobs()[at];
    const std::int64_t delay = minus_ns(trace.ts_ns()[job.gpu.row], end_of(trace, job.call));
    if (!launches.empty() && launches.back().call == job.call &&
        is_graph_launch(trace.name(job.call))) {
      Launch& graph = launches.back();
      ++graph.gpu_events;
      if (trace.ts_ns()[job.gpu.row] >= trace.ts_ns()[graph.gpu.row]) continue;
      graph.gpu = job.gpu;
      graph.device = job.device;
      graph.stream = job.stream;
      graph.gpu_ns = duration_of(trace, job.gpu);
      graph.delay_ns = std::max<std::int64_t>(delay, 0);
      graph.queue = queues.at_launch[at];
      continue;
    }
    launches.push_back({.call = job.call,
                        .gpu = job.gpu,
                        .op = work.op_of(job),
                        .device = job.device,
                        .stream = job.stream,
                        .cpu_ns = duration_of(trace, job.call),
                        .gpu_ns = duration_of(trace, job.gpu),
                        .delay_ns = std::max<std::int64_t>(delay, 0),
                        .queue = queues.at_launch[at]});
  }
  return launches;
}

Table launch_stats(const HostWork& work, const std::vector<Launch>& launches) {
  struct Row {
    const Trace& trace;
    const Launch& launch;
  };
  ColumnSet<Row> columns{
      {{"correlation", Kind::kInteger, "id", "the id that call and GPU event share"},
       [](const Row& row) {
         const std::int64_t id = row.trace.correlations()[row.launch.call.row];
         return id == kAbsent ? std::nullopt : std::optional{id};
       }},
      {{"call", Kind::kText, "", "the runtime or driver call"},
       [](const Row& row) { return row.trace.name(row.launch.call); }},
      {{"kernel", Kind::kText, "", "the work it launched; of a graph what ran first"},
       [](const Row& row) { return row.trace.name(row.launch.gpu); }},
      {{"op", Kind::kText, "", "the op it was launched for; may be empty"},
       [](const Row& row) { return name_or_nothing(row.trace, row.launch.op); }},
      {device_column(), [](const Row& row) { return row.launch.device; }, work.several_devices()},
      {{"stream", Kind::kInteger, "id", "stream the work ran on"},
       [](const Row& row) { return row.launch.stream; }},
      {{"gpu_events", Kind::kInteger, "", "GPU events of the call: more than one of a graph"},
       [](const Row& row) { return row.launch.gpu_events; }},
      {{"cpu_duration", Kind::kReal, "µs", "how long the call took"},
       [](const Row& row) { return us(row.launch.cpu_ns); }},
      {{"gpu_duration", Kind::kReal, "µs", "how long the work ran"},
       [](const Row& row) { return us(row.launch.gpu_ns); }},
      {{"launch_delay", Kind::kReal, "µs",
        "from the return of the call to the start of the work; 0 where it began before"},
       [](const Row& row) { return us(row.launch.delay_ns); }},
      {{"queue_at_launch", Kind::kInteger, "",
        "work that waited on the stream then, with this: from 2 on the delay is queueing"},
       [](const Row& row) { return row.launch.queue; }}};
  Table table = columns.make_table("launch_stats", "Launch calls and the GPU work of each");
  for (const Launch& launch : launches) columns.append(table, Row{work.trace(), launch});
  return table;
}

Table launch_summary(const HostWork& work, const std::vector<Launch>& launches,
                     const LaunchLimits& limits) {
  struct Group {
    std::int64_t count = 0, shorter = 0, slow = 0, queued = 0, starved = 0, overlap_ns = 0;
    std::array<std::vector<std::int64_t>, 3> times;  // of the call, of the work, of the delay
  };
  struct Row {
    std::string_view call;
    std::int64_t device;
    const Group& group;
  };
  const Trace& trace = work.trace();
  std::map<std::pair<StringId, std::int64_t>, Group> groups;
  const auto contended = contended_ns(work);
  EventId last;
  for (const Launch& launch : launches) {
    Group& group = groups[{trace.names()[launch.call.row], launch.device}];
    ++group.count;
    if (const auto found = contended.find(launch.call.row);
        found != contended.end() && launch.call != last)
      group.overlap_ns = plus_ns(group.overlap_ns, found->second);
    last = launch.call;
    group.times[0].push_back(launch.cpu_ns);
    group.times[1].push_back(launch.gpu_ns);
    group.times[2].push_back(launch.delay_ns);
    if (launch.cpu_ns > limits.slow_call_ns)
      ++group.slow;
    else if (launch.gpu_ns < launch.cpu_ns)
      ++group.shorter;
    if (launch.delay_ns > limits.long_delay_ns)
      ++(launch.queue >= 2 ? group.queued : group.starved);
  }
  ColumnSet<Row> columns{
      {{"call", Kind::kText, "", "the runtime or driver call"}, &Row::call},
      {device_column(), &Row::device, work.several_devices()},
      {{"count", Kind::kInteger, "", "launches"}, [](const Row& row) { return row.group.count; }}};
  struct Of {
    const char* name;
    const char* what;
  };
  constexpr std::array<Of, 3> kTimes = {{{"cpu_duration", "duration of the call"},
                                         {"gpu_duration", "duration of the work"},
                                         {"launch_delay", "delay until the work began"}}};
  for (std::size_t i = 0; i < kTimes.size(); ++i) {
    const std::string name = kTimes[i].name, what = kTimes[i].what;
    columns.add({name + "_mean", Kind::kReal, "µs", "mean " + what}, [i](const Row& row) {
      double sum = 0;
      for (const std::int64_t ns : row.group.times[i]) sum += static_cast<double>(ns);
      return sum / 1e3 / static_cast<double>(row.group.count);
    });
    const auto add = [&](const char* ending, const char* words, double share) {
      columns.add({name + ending, Kind::kReal, "µs", words + what}, [i, share](const Row& row) {
        return *quantile<std::int64_t>(row.group.times[i], share) / 1e3;
      });
    };
    add("_p50", "median ", 0.5);
    add("_p90", "90% are not above: ", 0.9);
    add("_p99", "99% are not above: ", 0.99);
    add("_max", "longest ", 1);
  }
  columns.add({
      {{"short", Kind::kInteger, "",
        "the work ran shorter than its call took, which took at most 50 µs"},
       [](const Row& row) { return row.group.shorter; }},
      {{"runtime_outlier", Kind::kInteger, "", "calls of more than 50 µs"},
       [](const Row& row) { return row.group.slow; }},
      {{"delay_outlier", Kind::kInteger, "", "delays of more than 100 µs"},
       [](const Row& row) { return row.group.queued + row.group.starved; }},
      {{"queued", Kind::kInteger, "", "of these: other work waited before it on the stream"},
       [](const Row& row) { return row.group.queued; }},
      {{"starved", Kind::kInteger, "", "of these: nothing else waited on the stream"},
       [](const Row& row) { return row.group.starved; }},
      {{"overlapping_launch_ms", Kind::kReal, "ms",
        "how long such calls overlapped with launches and allocations of other threads"},
       [](const Row& row) { return ms(row.group.overlap_ns); }},
  });
  Table table = columns.make_table("launch_summary",
                                   "Launches by call: how long calls, work and delays take");
  std::vector<std::pair<const std::pair<StringId, std::int64_t>, Group>*> order;
  for (auto& entry : groups) {
    for (auto& times : entry.second.times) std::ranges::sort(times);
    order.push_back(&entry);
  }
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* entry) { return entry->second.count; });
  for (const auto* entry : order)
    columns.append(table, Row{trace.text(entry->first.first), entry->first.second, entry->second});
  return table;
}

}  // namespace tracelens
