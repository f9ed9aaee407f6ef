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

// What the columns of all kinds of rows have in common, kept out of the templates.
class AnyColumn {
 public:
  [[nodiscard]] const ColumnSpec& spec() const { return spec_; }
  [[nodiscard]] bool when() const { return when_; }
  void fill(const void* row, RowCells& cells) const { fill_(cell_, row, cells); }

 protected:
  using Fill = void (*)(const void* cell, const void* row, RowCells& cells);
  AnyColumn(const ColumnSpec& spec, bool when, Fill fill);

  alignas(void*) std::byte cell_[2 * sizeof(void*)] = {};

 private:
  ColumnSpec spec_;
  bool when_;
  Fill fill_;
};

template <class Row>
class ColumnRow : public AnyColumn {
 public:
  // `cell`: anything that std::invoke takes a Row with and RowCells::add takes the result of.
  template <class Of>
  ColumnRow(const ColumnSpec& spec, Of cell, bool when = true)
      : AnyColumn{spec, when, [](const void* of, const void* row, RowCells& cells) {
                    Row& own = *static_cast<Row*>(const_cast<void*>(row));
                    cells.add(std::invoke(*static_cast<const Of*>(of), own));
                  }} {
    static_assert(std::is_trivially_copyable_v<Of> && sizeof(Of) <= sizeof cell_,
                  "a cell keeps two words at most: let the row hold what it needs");
    new (cell_) Of{cell};
  }
};

class ColumnList {
 public:
  // When its condition holds.
  void add(const AnyColumn& column);
  [[nodiscard]] Table make_table(std::string name, std::string description) const;
  void append(Table& table, const void* row);
  void fill(const void* row, RowCells& cells) const;

 private:
  std::vector<AnyColumn> columns_;
  RowCells cells_;
};

template <class Row>
class ColumnSet {
 public:
  ColumnSet() = default;
  ColumnSet(std::initializer_list<ColumnRow<Row>> rows) { add(rows); }

  void add(std::initializer_list<ColumnRow<Row>> rows) {
    for (const ColumnRow<Row>& row : rows) columns_.add(row);
  }
  template <class Of>
  void add(const ColumnSpec& spec, Of cell, bool when = true) {
    columns_.add(ColumnRow<Row>{spec, cell, when});
  }

  [[nodiscard]] Table make_table(std::string name, std::string description) const {
    return columns_.make_table(std::move(name), std::move(description));
  }
  void append(Table& table, Row& row) { columns_.append(table, &row); }
  void append(Table& table, Row&& row) { columns_.append(table, &row); }
  // The cells alone, for a table that is put together later: by several threads, each its own rows.
  void fill(Row& row, RowCells& cells) const { columns_.fill(&row, cells); }

 private:
  ColumnList columns_;
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
