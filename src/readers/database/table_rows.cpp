#include "readers/database/table_rows.hpp"

#include <fmt/format.h>

#include "sqlite/names.hpp"

namespace tracelens {

Statement TableColumns::select(const Connection& connection, std::string_view condition,
                               bool with_number) const {
  std::string sql;
  std::vector<int> cells;
  int count = 0;
  for (const std::string_view column : columns) {
    const bool is_there = file.has(table, column);
    cells.push_back(is_there ? count++ : -1);
    if (is_there) sql += (sql.empty() ? "SELECT " : ", ") + db::quoted_name(column);
  }
  if (with_number)
    sql += sql.empty() ? "SELECT rowid" : ", rowid";
  else if (sql.empty())
    sql = "SELECT NULL";
  Statement made{connection, sql + " FROM main." + db::quoted_name(table) + std::string{condition}};
  made.set_cells(std::move(cells));
  return made;
}

int TableColumns::stored_columns() const {
  return static_cast<int>(std::ranges::count_if(
      columns, [this](std::string_view column) { return file.has(table, column); }));
}

bool TableColumns::has_ranges() const {
  return !file.has(table, "rowid") && file.has_row_numbers(table);
}

void note(Job& job, const TableColumns& table, const TableEnd& end) {
  const auto& [file, name, columns] = table;
  if (!file.has(name) && file.has_view(name))
    job.warn(fmt::format("{} is a view or a virtual table: only real tables are read", name));
  if (end.is_damaged) job.lost_rows(name, end.rows, end.last_row);
  if (end.gaps > 0) job.passed_over_rows(name, end.rows, end.gaps);
  for (const std::string_view column : {"start", "end", "timestamp"})
    if (end.rows > 0 && std::ranges::find(columns, column) != columns.end() &&
        !file.has(name, column) && !file.has(name, std::string{column} + "_id"))
      job.warn(fmt::format("table {} has no column {}: its rows have no times", name, column));
  job.tell_rows_without_times(name);
}

std::size_t TableColumns::expected_rows() const {
  if (!file.has(table) || !has_ranges()) return 0;
  const Connection connection = file.connect();
  const auto number = [&](const char* which) -> std::int64_t {
    Statement row{connection,
                  fmt::format("SELECT {}(rowid) FROM main.{}", which, db::quoted_name(table))};
    return row.step() ? row.integer(0) : kAbsent;
  };
  const std::int64_t first = number("min"), last = number("max");
  if (first == kAbsent || last == kAbsent || last < first) return 0;
  // A row takes more than that; numbers that are far apart tell nothing.
  constexpr std::uint64_t kLeastRow = 24;
  const std::uint64_t count =
      static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + 1;
  return count <= file.bytes() / kLeastRow ? static_cast<std::size_t>(count) : 0;
}

RangeRows::RangeRows(const TableColumns& table, const Connection& connection)
    : rows_{table.select(connection, " WHERE rowid BETWEEN ?1 AND ?2", table.file.salvages())},
      number_column_{table.stored_columns()},
      salvages_{table.file.salvages()},
      most_bytes_{table.file.most_stored_bytes()} {}

void RangeRows::start(std::int64_t first, std::int64_t last) {
  next_ = first;
  last_ = last;
  passed_bytes_ = gaps_ = 0;
  is_damaged_ = false;
  rows_.bind(1, first);
  rows_.bind(2, last);
}

bool RangeRows::step() {
  while (!is_damaged_) {
    const bool is_row = rows_.step();
    if (is_row && stored_bytes() > most_bytes_) break;
    if (is_row && !salvages_) return true;
    if (is_row) {
      const std::int64_t number = rows_.column_integer(number_column_);
      if (number >= next_) {
        next_ = number == kLastRow ? number : number + 1;
        return true;
      }
    } else if (!rows_.is_damaged()) {
      return false;
    }
    if (!salvages_) break;
    ++gaps_;
    const auto good = behind_damage(next_, last_, [this](std::int64_t at) { return go_to(at); });
    if (!good) return false;
    static_cast<void>(go_to(*good));
    next_ = *good;
    rows_.bind(1, *good);
  }
  is_damaged_ = true;
  return false;
}

// Whether rows can be read from there on, as far as the first one tells.
bool RangeRows::go_to(std::int64_t first) {
  passed_bytes_ += rows_.stored_bytes();
  rows_.bind(1, first);
  if (rows_.step()) return rows_.column_integer(number_column_) >= first;
  return !rows_.is_damaged();
}

RowRanges::RowRanges(const TableColumns& table)
    : next_row_{table.file.connect(), "SELECT rowid FROM main." + db::quoted_name(table.table) +
                                          " WHERE rowid >= ?1 ORDER BY rowid LIMIT 1"},
      salvages_{table.file.salvages()} {}

std::optional<std::int64_t> RowRanges::row_from(std::int64_t from) {
  next_row_.bind(1, from);
  const bool is_row = next_row_.step();
  // A row that was not asked for: the tree of pages is damaged.
  is_told_ = is_row ? next_row_.integer(0) >= from : !next_row_.is_damaged();
  if (!is_row || !is_told_) return std::nullopt;
  return next_row_.integer(0);
}

bool RowRanges::next(Range& range) {
  if (is_over_) return false;
  std::optional<std::int64_t> first = row_from(from_);
  if (!is_told_ && salvages_) {
    ++gaps_;
    const auto good = behind_damage(from_, kLastRow, [this](std::int64_t at) {
      static_cast<void>(row_from(at));
      return is_told_;
    });
    first = good ? row_from(*good) : std::nullopt;
  } else if (!is_told_) {
    is_damaged_ = true;
  }
  if (!first) {
    is_over_ = true;
    return false;
  }
  range.first = *first;
  is_over_ = range.first > kLastRow - kPieceRows;
  range.last = is_over_ ? kLastRow : range.first + kPieceRows - 1;
  if (!is_over_) from_ = range.last + 1;
  return true;
}

std::int64_t last_sound_row(const TableColumns& table, std::int64_t first) {
  const int number = table.stored_columns();
  Statement rows = table.select(table.file.connect(), " WHERE rowid >= ?1", true);
  rows.bind(1, first);
  std::int64_t last = kAbsent;
  while (rows.step() && rows.stored_bytes() <= table.file.most_stored_bytes())
    last = rows.column_integer(number);
  return last;
}

}  // namespace tracelens
