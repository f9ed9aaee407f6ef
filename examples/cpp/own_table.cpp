// own_table TRACE OUTPUT: the usual report with one more table: kernels by the letters they begin
// with, and how much of the time they ran alone.
#include <cstdio>
#include <map>
#include <string>
#include <tracelens/tracelens.hpp>
#include <vector>

using namespace tracelens;

namespace {

std::vector<Table> kernels_by_prefix(const Trace& trace, const Tree& tree) {
  const ColumnSpec columns[] = {
      {"prefix", Kind::kText, "", "first six letters of the kernel's name"},
      {"kernels", Kind::kInteger, "", "how many ran"},
      {"busy", Kind::kReal, "ms", "time in which at least one of them ran"},
      {"alone", Kind::kReal, "%", "share of that time in which no other kernel ran"}};
  std::map<std::string, std::vector<EventId>> groups;
  for (const EventId event : tree.linked_gpu_events())
    if (trace.category(event) == Category::kKernel)
      groups[std::string{trace.name(event).substr(0, 6)}].push_back(event);

  const auto busy = [&](const std::vector<EventId>& events) {
    std::vector<Interval> intervals;
    for (const EventId event : events)
      intervals.push_back({trace.ts_ns()[event.row], trace.end_ns(event)});
    return merge(std::move(intervals));
  };
  Table table{"kernels_by_prefix", "Kernels by the letters they begin with", columns};
  for (const auto& [prefix, events] : groups) {
    std::vector<EventId> others;
    for (const auto& [other, its_events] : groups)
      if (other != prefix) others.insert(others.end(), its_events.begin(), its_events.end());
    const std::vector<Interval> own = busy(events);
    const auto total = static_cast<double>(length(own));
    const auto alone = static_cast<double>(length(subtract(own, busy(others))));
    table.add_row(prefix, events.size(), total / 1e6,
                  total > 0 ? std::optional{100 * alone / total} : std::nullopt);
  }
  table.sort_by("busy", Order::kDescending);
  return {table};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw Error{"own_table", "name a trace and an output"};
  check_sink(argv[2]);  // a mistake in the name is told before the trace is read
  ReportOptions options;
  options.more_tables.push_back({.make = kernels_by_prefix, .after = "gpu_timeline"});
  const Report report = make_report(read_trace(argv[1]), options);
  write_report(report, argv[2]);
  std::fputs(render_terminal(*report.find("kernels_by_prefix"), {.max_rows = 5}).c_str(), stdout);
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
