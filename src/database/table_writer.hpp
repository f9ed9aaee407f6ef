// table_writer.hpp: tables as tables of a SQLite file, and the file itself.
//   db::FileWriter file{"report.db"};
//   file.add(table);
//   file.finish();                         // appears under its name; without it nothing is left
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>

#include "io/output_file.hpp"
#include "sqlite/database.hpp"

namespace tracelens::db {

// Nested cells are numbers and texts as they are, everything else JSON: no type of their own.
[[nodiscard]] std::string_view sql_type(Kind kind);
[[nodiscard]] std::string_view kind_word(Kind kind);  // text, integer, real, bool, nested
// The rows of table_info and column_info that tell of tables.
[[nodiscard]] Table table_info();
[[nodiscard]] Table column_info();
void describe(const Table& table, std::string_view name, Table& tables, Table& columns);

class FileWriter {
 public:
  explicit FileWriter(const std::string& output);  // throws Error
  [[nodiscard]] const Database& database() const { return *database_; }
  // Under its name; a second one of that name as name_2. Told of in table_info and column_info.
  // A name that a table of events will have: one of the report that is called so gets a number.
  void reserve(std::string_view name);
  void add(const Table& table);
  void insert(const Table& table, std::string_view name);  // not told of
  // Of a table that was written by other means.
  void tell_of(const Table& table, std::string_view name) {
    describe(table, name, tables_, columns_);
  }
  void finish();

 private:
  io::OutputFile file_;
  std::unique_ptr<Database> database_;
  Table tables_, columns_;
  std::set<std::string> names_;  // in lower case: SQL does not tell them apart
};

}  // namespace tracelens::db
