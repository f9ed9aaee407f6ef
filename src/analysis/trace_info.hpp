// trace_info.hpp: what is in a trace, before any question is asked of it.
//   for (const Table& table : trace_info(trace, tree)) print(table);
#pragma once

#include <cstdint>
#include <string>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

// One pass of the loop the trace was recorded around.
struct Step {
  std::string name;  // "ProfilerStep#3", or the first call of the iteration
  std::int64_t ts_ns = 0, dur_ns = 0;
};

// The steps the profiler marked (ProfilerStep#N), else the iterations found in the call tree;
// those need a tree with Python frames.
[[nodiscard]] std::vector<Step> find_steps(const Trace& trace, const Tree& tree);

// From the start of the first event to the end of the last; {0, 0} without events.
struct TraceSpan {
  std::int64_t start_ns = 0, end_ns = 0;
};
[[nodiscard]] TraceSpan trace_span(const Trace& trace);

// In this order: trace (format, sizes, profiler options, versions, rank), devices, categories,
// threads, steps. Devices and steps are left out when there are none.
[[nodiscard]] std::vector<Table> trace_info(const Trace& trace, const Tree& tree);

}  // namespace tracelens
