// tables.hpp: the tables of OpRows, one function each.
#pragma once

#include <span>
#include <tracelens/rows.hpp>

#include "analysis/ops/input.hpp"
#include "analysis/rows/op_cells.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

[[nodiscard]] Table launcher_rows(OpInput& input, OpCells& cells, const LauncherColumns& columns);
[[nodiscard]] Table kernel_rows(const TraceFacts& facts, OpInput& input, OpCells& cells,
                                const KernelColumns& columns);
[[nodiscard]] Table unified_rows(OpInput& input, OpCells& cells, const UnifiedColumns& columns);
[[nodiscard]] Table perf_rows(OpInput& input, OpCells& cells, std::span<const EventId> events,
                              const PerfColumns& columns);
[[nodiscard]] Table module_rows(OpInput& input, EventId root);

}  // namespace tracelens
