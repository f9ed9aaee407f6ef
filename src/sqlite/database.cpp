#include "sqlite/database.hpp"

#include <tracelens/error.hpp>

namespace tracelens::db {

DatabaseHandle open(const std::string& name, const std::string& address, int flags) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(address.c_str(), &opened, flags, nullptr);
  DatabaseHandle handle{opened};
  if (status != SQLITE_OK)
    throw Error{name, handle == nullptr ? sqlite3_errstr(status) : sqlite3_errmsg(opened)};
  return handle;
}

StatementHandle prepare(sqlite3* database, const std::string& name, std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const int status =
      sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &prepared, nullptr);
  StatementHandle statement{prepared};
  if (status != SQLITE_OK) throw Error{name, sqlite3_errmsg(database)};
  return statement;
}

std::string_view text_of(sqlite3_stmt* statement, int column) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

std::string_view blob_of(sqlite3_stmt* statement, int column) {
  const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

Database::Database(const std::string& name, int flags)
    : name_{name}, handle_{open(name, name, flags)} {}

void Database::run(const std::string& sql) const {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    throw Error{name_, sqlite3_errmsg(handle())};
}

Statement::Statement(const Database& database, std::string_view sql)
    : database_{database}, statement_{prepare(database.handle(), database.name(), sql)} {}

void Statement::run() {
  while (step()) {
  }
  reset();
}

bool Statement::step() {
  const int status = sqlite3_step(get());
  if (status == SQLITE_ROW) return true;
  if (status != SQLITE_DONE) throw Error{database_.name(), sqlite3_errmsg(database_.handle())};
  return false;
}

}  // namespace tracelens::db
