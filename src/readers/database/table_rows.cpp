#include "readers/database/table_rows.hpp"

namespace tracelens {

std::string TableColumns::select() const {
  std::string sql;
  for (const std::string_view column : columns) {
    sql += sql.empty() ? "SELECT " : ", ";
    sql += column == "rowid" || file.has(table, column) ? quoted_name(column) : "NULL";
  }
  return sql + " FROM main." + quoted_name(table);
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
  if (is_over_) return false;
  range.first = next_row_.integer(0);
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  is_over_ = range.first > kLargest - kPieceRows;
  range.last = is_over_ ? kLargest : range.first + kPieceRows - 1;
  if (!is_over_) from_ = range.last + 1;
  return true;
}

}  // namespace tracelens
