// inline.hpp: the times of a second trace as columns of the first one's unified_perf_summary.
//   const Table wider = with_other_trace(summary, ops, stats);
// A call is held against what the other trace does at the same points of divergence
// (diff_stats.hpp): several calls may share one, and then each shows all of the other trace's time
// there.
#pragma once

#include <tracelens/table.hpp>

#include "analysis/diff/stats.hpp"
#include "analysis/ops/input.hpp"

namespace tracelens {

// `summary` is unified_perf_summary of trace1, `ops` what it was made from. Seven columns come
// after "Kernel Time (µs)_sum"; the table is returned as it is when no call has such a point.
[[nodiscard]] Table with_other_trace(const Table& summary, OpInput& ops, const DiffStats& stats);

}  // namespace tracelens
