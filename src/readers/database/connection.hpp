// connection.hpp: a database that somebody else wrote, opened so that it can do nothing.
//   const DatabaseFile file = DatabaseFile::of_file("run_results.db");
//   const Connection connection = file.connect();            // one for each thread
//   Statement rows{connection, "SELECT id, \"end\" FROM \"rocpd_region\""};
//   while (rows.step()) use(rows.integer(0), rows.integer(1));
// Nothing is written to the file or beside it. What the file brings as code (views, triggers, virtual
// tables) is never run: only the tables that tables() lists can be read.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

namespace tracelens {

// A connection goes back to its file, for the next who asks, when the last copy of this is gone.
using Connection = std::shared_ptr<sqlite3>;

class DatabaseFile {
 public:
  // A file of any size. Throws Error when it is no sound database, is cut, or cannot be opened
  // without writing to it.
  static DatabaseFile of_file(const std::string& path);
  // The same for bytes; `name` stands in for the path in messages.
  static DatabaseFile of_bytes(std::string name, std::string bytes);
  // The same for a file that has no name any more; the descriptor is closed at the end.
  static DatabaseFile of_descriptor(std::string name, int descriptor);

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::uint64_t bytes() const;
  // A connection of one's own: a connection serves one thread at a time.
  [[nodiscard]] Connection connect() const;

  // --- what it holds: real tables only, with the columns that are stored ---
  using Columns = std::set<std::string, std::less<>>;
  [[nodiscard]] const std::map<std::string, Columns, std::less<>>& tables() const;
  [[nodiscard]] bool has(std::string_view table) const;
  [[nodiscard]] bool has(std::string_view table, std::string_view column) const;
  [[nodiscard]] bool has_row_numbers(std::string_view table) const;
  // Whether a row is found by this column without a search.
  [[nodiscard]] bool is_row_number(std::string_view table, std::string_view column) const;

  // A sentence when the file has changed since it was opened; "" when it has not.
  [[nodiscard]] std::string change() const;

 private:
  struct State;
  explicit DatabaseFile(std::shared_ptr<State> state);
  void learn_tables();
  std::shared_ptr<State> state_;
};

// A name of the file's in a statement: x"y -> "x""y"
[[nodiscard]] std::string quoted_name(std::string_view name);

// Whether the first bytes of a file are those of a database.
[[nodiscard]] bool is_sqlite(std::string_view head);

class Statement {
 public:
  // Throws Error when it cannot be prepared.
  Statement(Connection connection, const std::string& sql);
  void bind(int parameter, std::int64_t value);  // from 1; starts the statement over

  // False at the end, or where the file is damaged: is_damaged() then says so.
  bool step();
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

  // Which column of the result a cell is; -1: it is NULL in every row, and costs nothing.
  void set_cells(std::vector<int> columns) { columns_ = std::move(columns); }

  // --- cells of the row, from 0 ---
  // kAbsent for what is no whole number. Unsigned numbers that were stored as reals wrap.
  [[nodiscard]] std::int64_t integer(int cell) const {
    const int column = column_of(cell);
    if (column < 0) return kAbsent;
    sqlite3_value* const value = sqlite3_column_value(held_.get(), column);
    if (sqlite3_value_type(value) == SQLITE_INTEGER) return sqlite3_value_int64(value);
    return other_integer(column);
  }
  [[nodiscard]] double real(int cell) const;            // NaN for what is no number
  [[nodiscard]] std::string_view text(int cell) const;  // "" for NULL; a view until the next step
  [[nodiscard]] std::string_view blob(int cell) const;
  [[nodiscard]] bool is_null(int cell) const {
    return column_of(cell) < 0 || sqlite3_column_type(held_.get(), column_of(cell)) == SQLITE_NULL;
  }

 private:
  [[nodiscard]] int column_of(int cell) const {
    return columns_.empty() ? cell : columns_[static_cast<std::size_t>(cell)];
  }
  [[nodiscard]] std::int64_t other_integer(int column) const;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Connection connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> held_;
  std::vector<int> columns_;
  bool is_damaged_ = false;
};

}  // namespace tracelens
