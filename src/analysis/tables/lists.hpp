// lists.hpp: the lists of tables that make the registry: one for each kind of trace, and one for
// each other verb that makes tables.
#pragma once

#include <span>

#include "analysis/tables/table_info.hpp"

namespace tracelens {

[[nodiscard]] std::span<const TableInfo> pytorch_tables();
[[nodiscard]] std::span<const TableInfo> jax_tables();
[[nodiscard]] std::span<const TableInfo> rocm_timeline_tables();
[[nodiscard]] std::span<const TableInfo> rocprof_result_tables();
[[nodiscard]] std::span<const TableInfo> rank_tables();
[[nodiscard]] std::span<const TableInfo> diff_tables();
[[nodiscard]] std::span<const TableInfo> roofline_tables();

// The last one of every report.
inline constexpr TableInfo kWarningsTable = {
    .name = "warnings", .description = "What was skipped or assumed", .group = "warnings"};

}  // namespace tracelens
