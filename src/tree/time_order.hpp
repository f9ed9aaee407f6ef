// time_order.hpp: events of a trace in order of time; equal times keep file order.
//   sort_by_time(rows, trace.ts_ns(), scratch);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tracelens {

// Sorts rows by (ts, row). A profiler writes a handful of lists, each in order, one after another:
// the sort finds these runs and merges them, so the usual cost is one or two passes. `scratch` is
// reused from call to call.
void sort_by_time(std::span<std::uint32_t> rows, std::span<const std::int64_t> ts_ns,
                  std::vector<std::uint32_t>& scratch);

}  // namespace tracelens
