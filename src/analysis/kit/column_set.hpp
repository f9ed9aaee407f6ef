// column_set.hpp: the columns of a table, each in one row: what it means, when it is there, and its
// cell.
//   struct Row { std::string_view name; std::int64_t busy_ns = 0, calls = 0; };
//   ColumnSet<Row> columns{
//       {{"name", Kind::kText, "", "op name as traced"}, &Row::name},
//       {{"calls", Kind::kInteger, "", "calls in the group"}, &Row::calls, options.with_calls},
//       {{"time", Kind::kReal, "ms", "busy time"}, [](const Row& r) { return ms(r.busy_ns); }}};
//   Table table = columns.make_table("ops", "GPU time per op");
//   for (const Op& op : ops) columns.append(table, Row{op.name, op.busy_ns, op.calls});
// A condition is a bool, so that it is asked once per table. A cell is a member of Row or a small
// function of a row; what several cells need, or what depends on the rows before (a running sum),
// is a member that the maker of the row fills. Cells are asked from left to right.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <new>
#include <span>
#include <string>
#include <tracelens/table.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_stats.hpp"

namespace tracelens {

template <class Row>
class ColumnRow {
 public:
  // `cell`: anything that std::invoke takes a Row with and RowCells::add takes the result of.
  template <class Of>
  ColumnRow(ColumnSpec spec, Of cell, bool when = true)  // NOLINT(*-member-init)
      : spec_{std::move(spec)}, when_{when}, fill_{[](const void* of, Row& row, RowCells& cells) {
          cells.add(std::invoke(*static_cast<const Of*>(of), row));
        }} {
    static_assert(std::is_trivially_copyable_v<Of> && sizeof(Of) <= sizeof cell_,
                  "a cell keeps two words at most: let the row hold what it needs");
    new (cell_) Of{std::move(cell)};
  }
  [[nodiscard]] const ColumnSpec& spec() const { return spec_; }
  [[nodiscard]] bool when() const { return when_; }
  void fill(Row& row, RowCells& cells) const { fill_(cell_, row, cells); }

 private:
  ColumnSpec spec_;
  bool when_;
  void (*fill_)(const void* of, Row& row, RowCells& cells);
  alignas(void*) std::byte cell_[2 * sizeof(void*)];
};

template <class Row>
class ColumnSet {
 public:
  ColumnSet() = default;
  ColumnSet(std::initializer_list<ColumnRow<Row>> rows) { add(rows); }

  void add(std::initializer_list<ColumnRow<Row>> rows) {
    for (const ColumnRow<Row>& row : rows)
      if (row.when()) columns_.push_back(row);
  }
  template <class Of>
  void add(ColumnSpec spec, Of cell, bool when = true) {
    if (when) columns_.emplace_back(std::move(spec), cell);
  }

  [[nodiscard]] Table make_table(std::string name, std::string description) const {
    std::vector<ColumnSpec> specs;
    for (const ColumnRow<Row>& column : columns_) specs.push_back(column.spec());
    return {std::move(name), std::move(description), specs};
  }
  void append(Table& table, Row& row) {
    cells_.clear();
    for (const ColumnRow<Row>& column : columns_) column.fill(row, cells_);
    table.append(cells_.cells());
  }
  void append(Table& table, Row&& row) { append(table, row); }

 private:
  std::vector<ColumnRow<Row>> columns_;
  RowCells cells_;
};

// name_mean, name_median, ...: these statistics of the rows' member `of`.
template <class Row>
void add_stat_columns(ColumnSet<Row>& columns, GroupStats Row::*of, std::span<const Stat> stats,
                      const std::string& name, const char* unit, const std::string& description,
                      bool when = true) {
  for (const Stat& stat : stats)
    columns.add(
        {name + "_" + stat.name, Kind::kReal, unit, stat.name + description},
        [of, value = stat.value](const Row& row) { return row.*of.*value; }, when);
}

// "Percentage (%)" and "Cumulative Percentage (%)" of rows with a RunningShare::Cells `share`.
template <class Row>
void add_share_columns(ColumnSet<Row>& columns, const std::string& of) {
  columns.add(RunningShare::share_column(of), [](const Row& row) { return row.share.here; });
  columns.add(RunningShare::so_far_column(), [](const Row& row) { return row.share.so_far; });
}

}  // namespace tracelens
