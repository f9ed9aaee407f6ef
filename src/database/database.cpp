#include "database/database.hpp"

#include <tracelens/error.hpp>

namespace tracelens::db {

Database::Database(const std::string& name, int flags) : name_{name} {
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (status != SQLITE_OK)
    throw Error{name, handle == nullptr ? sqlite3_errstr(status) : sqlite3_errmsg(handle)};
}

void Database::run(const std::string& sql) const {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    throw Error{name_, sqlite3_errmsg(handle())};
}

Statement::Statement(const Database& database, std::string_view sql) : database_{database} {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK)
    throw Error{database.name(), sqlite3_errmsg(database.handle())};
  statement_.reset(statement);
}

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

std::string_view Statement::text(int column) const {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(get(), column))};
}

}  // namespace tracelens::db
