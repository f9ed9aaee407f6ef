// op_tables.hpp: all op tables of the PyTorch report, in report order.
//   std::vector<Table> tables = make_op_tables(trace, tree, {.overlap = true});
// ops_summary_by_category, ops_summary, ops_unique_args, unified_perf_summary, the sheets of the
// families of modelled ops and coll_analysis; tables without rows are left out. A trace without
// cpu_ops has none.
#pragma once

#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/ops/input.hpp"

namespace tracelens {

[[nodiscard]] std::vector<Table> make_op_tables(const Trace& trace, const Tree& tree,
                                                const OpTableOptions& options = {});

}  // namespace tracelens
