// unified.hpp: every distinct call with its GPU time and, where a model exists, its FLOPs, bytes
// and rates: the table to read first.
//   const std::vector<UnifiedOp> ops = collect_unified_ops(input);
//   const std::optional<Table> table = unified_perf_summary(input, ops);
// No table when there is no GPU work to account for.
#pragma once

#include <optional>
#include <span>
#include <tracelens/table.hpp>

#include "analysis/ops/input.hpp"
#include "analysis/ops/unified_ops.hpp"

namespace tracelens {

[[nodiscard]] std::optional<Table> unified_perf_summary(OpInput& input,
                                                        std::span<const UnifiedOp> ops);
// The same with rows of their own for calls that overlapped with other kernels. Needs OpTableOptions::overlap.
[[nodiscard]] std::optional<Table> unified_perf_summary_kl_overlap(OpInput& input,
                                                                   std::span<const UnifiedOp> ops);

}  // namespace tracelens
