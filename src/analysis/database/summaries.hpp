// summaries.hpp: kernels, calls, copies, devices and launches of a database trace, in nanoseconds.
#pragma once

#include <tracelens/table.hpp>

#include "analysis/database/database_events.hpp"

namespace tracelens {

[[nodiscard]] Table database_kernels(const DatabaseEvents& events);    // kernel_summary
[[nodiscard]] Table database_calls(const DatabaseEvents& events);      // api_summary
[[nodiscard]] Table database_copies(const DatabaseEvents& events);     // memcpy_summary
[[nodiscard]] Table database_devices(const DatabaseEvents& events);    // device_timeline
[[nodiscard]] Table database_launches(const DatabaseEvents& events);   // launch_summary
[[nodiscard]] Table database_counters(const DatabaseEvents& events);   // counters
[[nodiscard]] Table database_memory(const DatabaseEvents& events);     // memory
[[nodiscard]] Table database_graphs(const DatabaseEvents& events);     // graph_launches
[[nodiscard]] Table database_graph_ops(const DatabaseEvents& events);  // graph_ops
[[nodiscard]] Table database_series(const DatabaseEvents& events);     // counter_series
[[nodiscard]] Table database_counts(const DatabaseEvents& events);     // counts

}  // namespace tracelens
