#include "analysis/jax/steps.hpp"

#include <algorithm>
#include <map>
#include <tracelens/intervals.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/jax/hosts.hpp"
#include "analysis/kit/cells.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

struct JaxStep {
  EventId event;
  std::int64_t start_ns = 0, end_ns = 0;
  std::vector<Interval> gpu;
};

// What one host did. Times and correlation ids of two hosts have nothing to do with each other.
struct Host {
  std::vector<JaxStep> steps;                                // by time
  std::unordered_map<std::int64_t, std::int64_t> launch_ns;  // by correlation id: start
};

std::map<std::int64_t, Host> hosts_with_steps(const Trace& trace) {
  std::map<std::int64_t, Host> hosts;
  for (const std::uint32_t row : trace.sequence_numbers().rows()) {
    const EventId event{row};
    if (trace.category(event) == Category::kUserAnnotation)
      hosts[JaxHosts::number(trace, event)].steps.push_back(
          {event, trace.ts_ns()[row], end_of(trace, event), {}});
  }
  for (auto& [number, host] : hosts) std::ranges::stable_sort(host.steps, {}, &JaxStep::start_ns);
  for (const EventId event : trace.all_events()) {
    if (!is_runtime(trace.category(event)) || trace.correlations()[event.row] == kAbsent) continue;
    if (const auto host = hosts.find(JaxHosts::number(trace, event)); host != hosts.end())
      host->second.launch_ns[trace.correlations()[event.row]] = trace.ts_ns()[event.row];
  }
  return hosts;
}

// The step that was under way at a time; nullptr between steps.
JaxStep* step_at(std::vector<JaxStep>& steps, std::int64_t ns) {
  const auto after = std::ranges::upper_bound(steps, ns, {}, &JaxStep::start_ns);
  if (after == steps.begin() || std::prev(after)->end_ns < ns) return nullptr;
  return &*std::prev(after);
}

void add_gpu_work(const Trace& trace, std::map<std::int64_t, Host>& hosts) {
  for (const EventId event : trace.all_events()) {
    if (!is_gpu(trace.category(event))) continue;
    const auto host = hosts.find(JaxHosts::number(trace, event));
    if (host == hosts.end()) continue;
    const auto launch = host->second.launch_ns.find(trace.correlations()[event.row]);
    if (launch == host->second.launch_ns.end()) continue;
    if (JaxStep* const step = step_at(host->second.steps, launch->second))
      step->gpu.push_back(interval_of(trace, event));
  }
}

}  // namespace

std::optional<Table> jax_steps(const Trace& trace) {
  std::map<std::int64_t, Host> hosts = hosts_with_steps(trace);
  if (hosts.empty()) return std::nullopt;
  add_gpu_work(trace, hosts);
  const JaxHosts names{trace};
  std::vector<ColumnSpec> columns;
  if (names.are_several()) columns.push_back(kJaxHostColumn);
  columns.insert(
      columns.end(),
      {{"step", Kind::kText, "", "name and number the program gave it"},
       {"start (ms)", Kind::kReal, "ms", "host time since its first step began"},
       {"host (ms)", Kind::kReal, "ms", "host time of the step"},
       {"GPU events", Kind::kInteger, "", "kernels, copies and fills it launched"},
       {"GPU busy (ms)", Kind::kReal, "ms", "time in which any of them ran"},
       {"GPU span (ms)", Kind::kReal, "ms", "from the start of the first to the end of the last"},
       {"GPU busy (%)", Kind::kReal, "%", "share of busy time in the span"},
       {"GPU idle before (ms)", Kind::kReal, "ms",
        "since the last work of the step before ended"}});
  Table table{"jax_steps", "Steps of the program: host time and the GPU work they launched",
              columns};
  for (auto& [number, host] : hosts) {
    std::optional<std::int64_t> last_end;
    for (JaxStep& step : host.steps) {
      const auto count = static_cast<std::int64_t>(step.gpu.size());
      const std::vector<Interval> busy = merge(std::move(step.gpu));
      RowCells row;
      if (names.are_several()) row.add(names.name(number));
      row.add(trace.name(step.event));
      row.add(ms(minus_ns(step.start_ns, host.steps.front().start_ns)));
      row.add(ms(minus_ns(step.end_ns, step.start_ns)));
      row.add(count);
      row.add(ms(length(busy)));
      if (busy.empty()) {
        for (int i = 0; i < 3; ++i) row.add(kMissing);
      } else {
        const std::int64_t span = minus_ns(busy.back().end, busy.front().start);
        row.add(ms(span));
        row.add(percent_of(ms(length(busy)), ms(span)));
        row.add(last_end ? std::optional{ms(minus_ns(busy.front().start, *last_end))}
                         : std::nullopt);
        last_end = busy.back().end;
      }
      table.append(row.cells());
    }
  }
  return table;
}

}  // namespace tracelens
