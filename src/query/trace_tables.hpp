// trace_tables.hpp: the tables of SQL that every trace has: Perfetto's where the thing is the same,
// and our own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>

#include "query/column_table.hpp"
#include "query/trace_view.hpp"

namespace tracelens::query {

// Those with a row per event, node or string: columns of the trace.
[[nodiscard]] std::span<const TableDef> column_tables();

// Those with few rows, made as a whole when first asked for.
struct SmallTable {
  std::string_view name, description;
  Table (*make)(TraceView& view, const SmallTable& self);
  [[nodiscard]] Table with(std::span<const ColumnSpec> columns) const {
    return {std::string{name}, std::string{description}, columns};
  }
};
[[nodiscard]] std::span<const SmallTable> small_tables();

// Tables that are statements about others: aliases and what Perfetto's modules add.
struct ViewDef {
  std::string_view name, description, sql;
};
[[nodiscard]] std::span<const ViewDef> views();

}  // namespace tracelens::query
