// op_tables.hpp: GPU time by category of op, by op, and by distinct call.
//   OpInput input{facts, {.group_by_kernel_count = true}};
//   const std::optional<Table> table = ops_unique_args(input);
// Each GPU event is charged to one op (launchers.hpp); communication kernels are not charged.
// No table when no op launched anything.
#pragma once

#include <optional>
#include <tracelens/table.hpp>

#include "analysis/ops/input.hpp"

namespace tracelens {

[[nodiscard]] std::optional<Table> ops_summary_by_category(OpInput& input);
[[nodiscard]] std::optional<Table> ops_summary(OpInput& input);
[[nodiscard]] std::optional<Table> ops_unique_args(OpInput& input);
// The same with rows of their own for calls that overlapped with other kernels. Needs OpTableOptions::overlap.
[[nodiscard]] std::optional<Table> ops_unique_args_kl_overlap(OpInput& input);

}  // namespace tracelens
