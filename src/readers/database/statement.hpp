// statement.hpp: the rows of a stranger's table, cell by cell, whatever was stored in them.
//   Statement rows{file.connect(), "SELECT id, \"end\" FROM \"rocpd_region\""};
//   while (rows.step()) use(rows.integer(0), rows.integer(1));
//   if (rows.is_damaged()) ...                      // the rows behind cannot be read
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

#include "sqlite/database.hpp"

namespace tracelens {

// A connection goes back to its file, for the next who asks, when the last copy of this is gone.
using Connection = std::shared_ptr<sqlite3>;

// An error of a connection, which does not know what the user called the file.
[[nodiscard]] Error renamed(const Error& error, const std::string& name);

class Statement {
 public:
  // Throws Error when it cannot be prepared; see renamed().
  Statement(Connection connection, const std::string& sql);
  void bind(int parameter, std::int64_t value);  // from 1; starts the statement over

  // False at the end, or where the file is damaged: is_damaged() then says so. Throws Error when the
  // time limit is over.
  bool step();
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

  // Which column of the result a cell is; -1: it is NULL in every row, and costs nothing.
  void set_cells(std::vector<int> columns) { columns_ = std::move(columns); }

  // At least as many bytes as the rows since the last bind() take in a sound file. A file whose rows
  // take more than the file has is not sound: pages of it are used several times.
  [[nodiscard]] std::uint64_t stored_bytes() const { return stored_bytes_; }

  // --- cells of the row, from 0 ---
  // kAbsent for what is no whole number. Unsigned numbers that were stored as reals wrap.
  [[nodiscard]] std::int64_t integer(int cell) const {
    const int column = column_of(cell);
    return column < 0 ? kAbsent : column_integer(column);
  }
  // The first cells, each as integer() gives it.
  void integers(std::span<std::int64_t> into) const;
  [[nodiscard]] double real(int cell) const;            // NaN for what is no number
  [[nodiscard]] std::string_view text(int cell) const;  // "" for NULL; a view until the next step
  [[nodiscard]] std::string_view blob(int cell) const;
  [[nodiscard]] bool is_null(int cell) const {
    return column_of(cell) < 0 || sqlite3_column_type(held_.get(), column_of(cell)) == SQLITE_NULL;
  }
  // By the place in the result, also of columns that are no cells.
  [[nodiscard]] std::int64_t column_integer(int column) const {
    sqlite3_value* const value = sqlite3_column_value(held_.get(), column);
    if (sqlite3_value_type(value) == SQLITE_INTEGER) return sqlite3_value_int64(value);
    return other_integer(column);
  }

 private:
  [[nodiscard]] int column_of(int cell) const {
    return columns_.empty() ? cell : columns_[static_cast<std::size_t>(cell)];
  }
  [[nodiscard]] std::int64_t other_integer(int column) const;
  Connection connection_;
  db::StatementHandle held_;
  std::vector<int> columns_;
  mutable std::uint64_t stored_bytes_ = 0;  // the cells that were looked at
  bool is_damaged_ = false;
};

}  // namespace tracelens
