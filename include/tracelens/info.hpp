// info.hpp: what is in a trace, before any question is asked of it. In src/analysis/inspect.
//   for (const Table& table : trace_info(trace, tree)) print(table);
#pragma once

#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

// In this order: trace (format, sizes, profiler options, versions, rank), devices, categories,
// threads, steps. Devices and steps are left out when there are none.
// Takes any trace; never fails.
[[nodiscard]] std::vector<Table> trace_info(const Trace& trace, const Tree& tree);

}  // namespace tracelens
