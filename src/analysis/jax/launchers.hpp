// launchers.hpp: the kernels of a JAX profile, one by one and summed up, in the tables of the
// Python TraceLens.
//   for (Table& table : jax_launcher_tables(kernels)) add(std::move(table));
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/jax/kernels.hpp"

namespace tracelens {

// Whether the table of this name and length is to be made.
using WantsTable = std::function<bool(std::string_view table, std::size_t rows)>;

// kernel_launchers, kernel_launchers_summary, kernel_launchers_summary_by_category,
// kernel_launchers_unique_args, df_xla_perf (the kernels of no category) and xla_summary; all of
// them, even when empty, but those with a row for each kernel that nobody wants.
[[nodiscard]] std::vector<Table> jax_launcher_tables(const JaxKernels& kernels,
                                                     const WantsTable& wants = {});

// [{'name': ..., 'count': ..., 'total_duration_us': ..., ...}] of kernels with one name; `details`
// adds what the HLO op says (custom_call_target, operands, outputs, metadata).
[[nodiscard]] Value jax_details_summary(const JaxKernels& kernels,
                                        std::span<const JaxKernel* const> group, bool details);

}  // namespace tracelens
