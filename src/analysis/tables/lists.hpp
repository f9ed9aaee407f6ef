// lists.hpp: the lists of tables that make the registry: one for each kind of trace, and one for
// each other verb that makes tables.
#pragma once

#include <span>
#include <string_view>

#include "analysis/tables/table_info.hpp"

namespace tracelens {

[[nodiscard]] std::span<const TableInfo> pytorch_tables();
[[nodiscard]] std::span<const TableInfo> jax_tables();
[[nodiscard]] std::span<const TableInfo> rocm_timeline_tables();
[[nodiscard]] std::span<const TableInfo> rocprof_result_tables();
[[nodiscard]] std::span<const TableInfo> database_tables();
[[nodiscard]] std::span<const TableInfo> rank_tables();
[[nodiscard]] std::span<const TableInfo> diff_tables();
[[nodiscard]] std::span<const TableInfo> roofline_tables();

// What a reader wants of tables that several kinds of trace have.
inline constexpr std::string_view kIdleColumns =
    "gap size | idle ms | percent of idle | gaps | longest ms";
inline constexpr std::string_view kIdleHostColumns =
    "name | host state | idle ms | percent of idle | cause | gaps | longest ms";
inline constexpr std::string_view kOpSheetColumns =
    "name | Input Dims_first | name_count | Kernel Time (µs)_sum | TFLOPS/s_mean | TB/s_mean | Pct Roofline_mean | Roofline Bound_first | Kernel Time (µs)_mean | Input type_first | overlapping_kernel_names_first | overlap_pct_mean";

// The last one of every report.
inline constexpr TableInfo kWarningsTable = {
    .name = "warnings", .description = "What was skipped or assumed", .group = "warnings"};

}  // namespace tracelens
