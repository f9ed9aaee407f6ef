// stat_columns.hpp: the columns count, total_ns, mean_ns ... of a group of durations.
#pragma once

#include <tracelens/table.hpp>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/rocm/pftrace_stats.hpp"

namespace tracelens {

[[nodiscard]] std::vector<ColumnSpec> ns_stat_columns(const char* of);
void add_ns_stats(RowCells& row, const NsStats& stats);

}  // namespace tracelens
