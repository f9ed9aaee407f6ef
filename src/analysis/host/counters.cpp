#include "analysis/host/counters.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kMostCounters = 100;  // no profiler measures as many at once

std::vector<EventId> measured_kernels(const Trace& trace) {
  std::vector<EventId> events;
  for (const EventId event : trace.recorded_events())
    if (trace.category(event) == Category::kOtherCategory &&
        trace.phase(event) == Phase::kComplete && trace.ts_ns()[event.row] != kAbsent &&
        trace.category_text(event) == "cuda_profiler_range")
      events.push_back(event);
  std::ranges::stable_sort(events, {}, [&](EventId event) { return trace.ts_ns()[event.row]; });
  return events;
}

// The calls that launch kernels, by start.
std::vector<EventId> kernel_launches(const HostWork& work) {
  const Trace& trace = work.trace();
  std::vector<EventId> calls;
  for (const EventId call : work.calls())
    if (call_kind(trace.name(call)).call_class == CallClass::kLaunch &&
        trace.name(call).find("LaunchKernel") != std::string_view::npos)
      calls.push_back(call);
  std::ranges::stable_sort(calls, {}, [&](EventId call) { return trace.ts_ns()[call.row]; });
  return calls;
}

}  // namespace

std::optional<Table> counters(const HostWork& work) {
  const Trace& trace = work.trace();
  const std::vector<EventId> kernels = measured_kernels(trace);
  if (kernels.empty()) return std::nullopt;
  std::vector<ColumnSpec> columns{
      {"kernel", Kind::kText, "", "as the profiler names what it measured"},
      {"op", Kind::kText, "",
       "the op that launched it: the profiler runs kernels one by one, in the order of their launches; "
       "empty where there are not as many launches"},
      {"duration_us", Kind::kReal, "µs", "how long the measurement took"}};
  std::map<std::string, std::size_t, std::less<>> places;  // of counters among the columns
  std::vector<std::map<std::size_t, double>> rows;
  for (const EventId kernel : kernels) {
    const Value details = trace.details(kernel);
    std::map<std::size_t, double>& row = rows.emplace_back();
    for (std::size_t i = 0; i < details.keys().size(); ++i) {
      const Value& value = details.items()[i];
      if (value.kind() != Value::Kind::kInt && value.kind() != Value::Kind::kReal) continue;
      auto place = places.find(details.keys()[i]);
      if (place == places.end()) {
        if (places.size() == kMostCounters) continue;
        place = places.emplace(details.keys()[i], columns.size()).first;
        columns.push_back({details.keys()[i], Kind::kReal, "", "hardware counter"});
      }
      row[place->second] = value.as_real();
    }
  }
  const std::vector<EventId> launches = kernel_launches(work);
  const bool are_matched = launches.size() == kernels.size();
  Table table{"counters", "Hardware counters of single kernels", columns};
  RowCells cells;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const EventId op = are_matched ? work.op_of({kernels[i], launches[i]}) : EventId{};
    cells.clear();
    cells.add(trace.name(kernels[i]));
    cells.add(op.valid() ? trace.name(op) : std::string_view{});
    cells.add(us(duration_of(trace, kernels[i])));
    for (std::size_t column = 3; column < columns.size(); ++column) {
      const auto found = rows[i].find(column);
      cells.add(found == rows[i].end() ? std::nullopt : std::optional{found->second});
    }
    table.append(cells.cells());
  }
  return table;
}

}  // namespace tracelens
