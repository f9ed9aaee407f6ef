#include "analysis/host/annotations.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <tracelens/table_text.hpp>
#include <utility>
#include <vector>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Names with more time come first; a program that gives every range its own name has no use for more.
constexpr std::size_t kMostNames = 1000;

struct Named {
  StringId name;
  std::int64_t count = 0, host_ns = 0, longest_ns = 0, gpu_events = 0, gpu_busy_ns = 0;
  std::map<std::uint32_t, std::vector<Interval>> times;  // by process
};

// Processes by number; a track's process is what its threads share.
class Processes {
 public:
  explicit Processes(const Trace& trace) {
    std::map<std::string, std::uint32_t> known;
    for (const Track& track : trace.track_table())
      of_track_.push_back(
          known.try_emplace(python_repr(track.pid), static_cast<std::uint32_t>(known.size()))
              .first->second);
  }
  [[nodiscard]] std::uint32_t of(TrackId track) const { return of_track_[track.row]; }

 private:
  std::vector<std::uint32_t> of_track_;
};

struct LaunchedAt {
  std::int64_t ts_ns;
  Interval gpu;
};

}  // namespace

Table annotations(const HostWork& work) {
  const Trace& trace = work.trace();
  const Processes processes{trace};
  std::map<StringId, Named> by_name;
  for (const EventId event : trace.recorded_events()) {
    if (trace.category(event) != Category::kUserAnnotation ||
        trace.phase(event) != Phase::kComplete || trace.ts_ns()[event.row] == kAbsent)
      continue;
    Named& named = by_name[trace.names()[event.row]];
    named.name = trace.names()[event.row];
    ++named.count;
    named.host_ns = plus_ns(named.host_ns, duration_of(trace, event));
    named.longest_ns = std::max(named.longest_ns, duration_of(trace, event));
    named.times[processes.of(trace.tracks()[event.row])].push_back(interval_of(trace, event));
  }
  std::vector<Named*> order;
  for (auto& [name, named] : by_name) order.push_back(&named);
  std::ranges::stable_sort(order, std::ranges::greater{}, &Named::host_ns);
  order.resize(std::min(order.size(), kMostNames));

  std::map<std::uint32_t, std::vector<LaunchedAt>> launched;  // by process
  for (const std::uint32_t at : work.launched()) {
    const GpuJob& job = work.jobs()[at];
    launched[processes.of(trace.tracks()[job.call.row])].push_back(
        {trace.ts_ns()[job.call.row], interval_of(trace, job.gpu)});
  }
  for (auto& [process, jobs] : launched) std::ranges::stable_sort(jobs, {}, &LaunchedAt::ts_ns);
  for (Named* const named : order) {
    std::vector<Interval> busy;
    for (auto& [process, times] : named->times) {
      const std::vector<LaunchedAt>& jobs = launched[process];
      for (const Interval& open : merge(std::move(times))) {
        auto job = std::ranges::lower_bound(jobs, open.start, {}, &LaunchedAt::ts_ns);
        for (; job != jobs.end() && job->ts_ns < open.end; ++job) busy.push_back(job->gpu);
      }
    }
    named->gpu_events = static_cast<std::int64_t>(busy.size());
    named->gpu_busy_ns = length(merge(std::move(busy)));
  }

  struct Row {
    std::string_view name;
    const Named& named;
  };
  ColumnSet<Row> columns{
      {{"name", Kind::kText, "", "as the program named it"}, &Row::name},
      {{"count", Kind::kInteger, "", "ranges of this name"},
       [](const Row& row) { return row.named.count; }},
      {{"host_ms", Kind::kReal, "ms", "their time on the host"},
       [](const Row& row) { return ms(row.named.host_ns); }},
      {{"host_mean_ms", Kind::kReal, "ms", "the same per range"},
       [](const Row& row) { return ms(row.named.host_ns) / static_cast<double>(row.named.count); }},
      {{"host_max_ms", Kind::kReal, "ms", "the longest of them"},
       [](const Row& row) { return ms(row.named.longest_ns); }},
      {{"gpu_busy_ms", Kind::kReal, "ms",
        "time in which the GPU ran something that their process launched meanwhile"},
       [](const Row& row) { return ms(row.named.gpu_busy_ns); }},
      {{"gpu_mean_ms", Kind::kReal, "ms", "the same per range"},
       [](const Row& row) {
         return ms(row.named.gpu_busy_ns) / static_cast<double>(row.named.count);
       }},
      {{"gpu_events", Kind::kInteger, "", "GPU events that were launched meanwhile"},
       [](const Row& row) { return row.named.gpu_events; }}};
  Table table = columns.make_table(
      "annotations", "Ranges the program named: their time on the host, and the GPU work in them");
  for (const Named* const named : order)
    columns.append(table, Row{trace.text(named->name), *named});
  return table;
}

}  // namespace tracelens
