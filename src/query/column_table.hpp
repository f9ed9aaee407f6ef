// column_table.hpp: the columns of a trace as a table of SQL, found by id, name, time and the like
// without reading every row.
//   constexpr ColumnDef kColumns[] = {{.name = "id", .find = Find::kKey, .integer = ...}, ...};
//   const TableDef def{"slice", "Events with a duration", kColumns, rows};
//   add_module(database, "tl_columns", [&](auto words) { return column_table(view, def); });
// A value is asked for one by one, so that what a statement does not name is never made.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <tracelens/table.hpp>
#include <tracelens/value.hpp>

#include "query/trace_view.hpp"
#include "query/virtual_table.hpp"

namespace tracelens::query {

// How rows are found by the value of a column.
enum class Find : std::uint8_t {
  kNot,
  kKey,   // it is the number of the row
  kFew,   // by lists, one per value; there are few values
  kMany,  // the same; there are many
  kTime,  // by the order of time
};

// One of the three functions gives the cell of a row.
struct ColumnDef {
  std::string_view name;
  Kind kind = Kind::kInteger;
  std::string_view unit = {};
  std::string_view description = {};
  Find find = Find::kNot;
  std::int64_t (*integer)(TraceView& view, std::uint32_t row) = nullptr;  // kAbsent: NULL
  TextCode (*text)(TraceView& view, std::uint32_t row) = nullptr;         // kNoText: NULL
  Value (*other)(TraceView& view, std::uint32_t row) = nullptr;  // for what is seldom asked
  bool of_event = false;  // the event's own: a file has it from there
};

// The rows of a table: numbers that its columns understand, or as many as `count` from 0.
struct RowSet {
  std::span<const std::uint32_t> list = {};
  std::uint32_t count = 0;
  bool is_dense = false;
  static RowSet of(std::span<const std::uint32_t> rows) {
    return {rows, static_cast<std::uint32_t>(rows.size()), false};
  }
  static RowSet dense(std::size_t rows) { return {{}, static_cast<std::uint32_t>(rows), true}; }
  [[nodiscard]] std::uint32_t at(std::uint32_t i) const { return is_dense ? i : list[i]; }
};

struct TableDef {
  std::string_view name, description;
  std::span<const ColumnDef> columns;
  RowSet (*rows)(TraceView& view);  // ascending where a column is the key
};

// `pushdown` off: every row of the table, in its order; for comparing the two.
[[nodiscard]] std::unique_ptr<VirtualTable> column_table(std::shared_ptr<TraceView> view,
                                                         const TableDef& def, bool pushdown = true);

// A description of its columns, without rows.
[[nodiscard]] Table description_of(const TableDef& def);

}  // namespace tracelens::query
