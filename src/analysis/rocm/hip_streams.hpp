// hip_streams.hpp: what each stream of each GPU did: how busy it was, and for how long.
//   if (auto table = gpu_streams(trace)) report.tables.push_back(std::move(*table));
#pragma once

#include <optional>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>

namespace tracelens {

// One row per GPU and stream, in their order. No table when the trace names no streams.
[[nodiscard]] std::optional<Table> gpu_streams(const Trace& trace);

}  // namespace tracelens
