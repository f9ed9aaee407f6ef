#include "readers/database/table_rows.hpp"

namespace tracelens {

Statement TableColumns::select(const Connection& connection, std::string_view condition) const {
  std::string sql;
  std::vector<int> cells;
  int count = 0;
  for (const std::string_view column : columns) {
    const bool is_there = file.has(table, column);
    cells.push_back(is_there ? count++ : -1);
    if (is_there) sql += (sql.empty() ? "SELECT " : ", ") + quoted_name(column);
  }
  if (sql.empty()) sql = "SELECT NULL";
  Statement made{connection, sql + " FROM main." + quoted_name(table) + std::string{condition}};
  made.set_cells(std::move(cells));
  return made;
}

bool TableColumns::has_ranges() const {
  return !file.has(table, "rowid") && file.has_row_numbers(table);
}

RowRanges::RowRanges(const TableColumns& table)
    : next_row_{table.file.connect(), "SELECT rowid FROM main." + quoted_name(table.table) +
                                          " WHERE rowid >= ?1 ORDER BY rowid LIMIT 1"} {}

bool RowRanges::next(Range& range) {
  if (is_over_) return false;
  next_row_.bind(1, from_);
  is_over_ = !next_row_.step();
  is_damaged_ = next_row_.is_damaged();
  if (is_over_) return false;
  range.first = next_row_.integer(0);
  if (range.first < from_) {  // not what was asked for: the index is damaged
    is_over_ = is_damaged_ = true;
    return false;
  }
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  is_over_ = range.first > kLargest - kPieceRows;
  range.last = is_over_ ? kLargest : range.first + kPieceRows - 1;
  if (!is_over_) from_ = range.last + 1;
  return true;
}

}  // namespace tracelens
