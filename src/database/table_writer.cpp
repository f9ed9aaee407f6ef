#include "database/table_writer.hpp"

#include <fmt/format.h>

#include <iterator>
#include <limits>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>

#include "database/plain_names.hpp"
#include "io/ascii.hpp"
#include "sqlite/names.hpp"

namespace tracelens::db {
namespace {

void bind_cell(Statement& insert, int place, const Table::Column& column, std::size_t row,
               std::string& scratch) {
  if (column.is_missing(row)) return insert.bind_null(place);
  switch (column.spec().kind) {
    case Kind::kText:
      return insert.bind(place, std::string_view{column.texts()[row]});
    case Kind::kInteger:
    case Kind::kBool:
      return insert.bind(place, column.integers()[row]);
    case Kind::kReal:
      return insert.bind(place, column.reals()[row]);
    case Kind::kNested:
      break;
  }
  const Value& value = column.nested()[row];
  if (value.is_int()) return insert.bind(place, value.as_int());
  if (value.is_number()) return insert.bind(place, value.as_real());
  if (value.kind() == Value::Kind::kBool)
    return insert.bind(place, std::int64_t{value.as_bool() ? 1 : 0});
  scratch = value.is_text() ? value.as_text() : json_text(value);
  insert.bind(place, std::string_view{scratch});
}

}  // namespace

std::string_view sql_type(Kind kind) {
  switch (kind) {
    case Kind::kInteger:
    case Kind::kBool:
      return "INTEGER";
    case Kind::kReal:
      return "REAL";
    case Kind::kText:
      return "TEXT";
    case Kind::kNested:
      break;
  }
  return "";  // as it is
}

std::string_view kind_word(Kind kind) {
  constexpr std::string_view kWords[] = {"text", "integer", "real", "bool", "nested"};
  return kWords[static_cast<std::size_t>(kind)];
}

Table table_info() {
  const ColumnSpec columns[] = {{"table", Kind::kText, "", "its name"},
                                {"description", Kind::kText, "text", "what it says"},
                                {"rows", Kind::kInteger, "", "NULL: not computed yet"}};
  return {"table_info", "Every table there is", columns};
}

Table column_info() {
  const ColumnSpec columns[] = {{"table", Kind::kText, "", "the table it is in"},
                                {"column", Kind::kText, "", "its name in SQL"},
                                {"title", Kind::kText, "", "its name in the report"},
                                {"kind", Kind::kText, "", "text, integer, real, bool or nested"},
                                {"unit", Kind::kText, "", "of its numbers"},
                                {"description", Kind::kText, "text", "what it says"}};
  return {"column_info", "Every column of the tables that are computed", columns};
}

void describe(const Table& table, std::string_view name, Table& tables, Table& columns) {
  tables.add_row(name, table.description(), table.rows());
  const std::vector<std::string> names = plain_names(table);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ColumnSpec& spec = table.columns()[i].spec();
    columns.add_row(name, names[i], spec.name, kind_word(spec.kind), spec.unit, spec.description);
  }
}

FileWriter::FileWriter(const std::string& output)
    : file_{output}, tables_{table_info()}, columns_{column_info()} {
  // In memory first: SQLite opens files by name alone, and this one has none until it is complete.
  database_ = std::make_unique<Database>(
      "file:report?vfs=memdb", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI);
  sqlite3_int64 most_bytes = std::numeric_limits<sqlite3_int64>::max();
  sqlite3_file_control(database_->handle(), "main", SQLITE_FCNTL_SIZE_LIMIT, &most_bytes);
  database_->run(
      fmt::format("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
                  "PRAGMA page_size=8192; PRAGMA application_id={}; PRAGMA user_version={}; BEGIN",
                  kApplicationId, kLayoutVersion));
}

void FileWriter::reserve(std::string_view name) { names_.insert(io::lower_case(name)); }

void FileWriter::add(const Table& table) {
  if (table.columns().empty()) return;  // a comparison without rows, say: SQL has no such tables
  std::string name = table.name();
  for (int number = 2; !names_.insert(io::lower_case(name)).second; ++number)
    name = fmt::format("{}_{}", table.name(), number);
  insert(table, name);
  tell_of(table, name);
}

void FileWriter::insert(const Table& table, std::string_view name) {
  const std::vector<std::string> names = plain_names(table);
  std::string columns, places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    fmt::format_to(std::back_inserter(columns), "{}{} {}", i == 0 ? "" : ", ",
                   quoted_name(names[i]), sql_type(table.columns()[i].spec().kind));
    places += i == 0 ? "?" : ",?";
  }
  database_->run(fmt::format("CREATE TABLE {} ({})", quoted_name(name), columns));
  Statement insert{*database_,
                   fmt::format("INSERT INTO {} VALUES ({})", quoted_name(name), places)};
  std::vector<std::string> scratch(names.size());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t i = 0; i < names.size(); ++i)
      bind_cell(insert, static_cast<int>(i) + 1, table.columns()[i], row, scratch[i]);
    insert.run();
  }
}

void FileWriter::finish() {
  tables_.add_row("table_info", tables_.description(), tables_.rows() + 2);
  tables_.add_row("column_info", columns_.description(), columns_.rows());
  insert(tables_, "table_info");
  insert(columns_, "column_info");
  database_->run("COMMIT");
  sqlite3_int64 bytes = 0;
  const unsigned char* const image =
      sqlite3_serialize(database_->handle(), "main", &bytes, SQLITE_SERIALIZE_NOCOPY);
  if (image == nullptr) throw Error{file_.path(), "there is no memory for it"};
  file_.write({reinterpret_cast<const char*>(image), static_cast<std::size_t>(bytes)});
  database_.reset();
  file_.commit();
}

}  // namespace tracelens::db
