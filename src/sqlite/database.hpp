// database.hpp: SQLite with owners: a connection and its statements close themselves, and what goes
// wrong is an Error.
//   db::Database file{"report.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
//   db::Statement insert{file, "INSERT INTO op VALUES (?, ?)"};
//   insert.bind(1, std::int64_t{7});
//   insert.run();                               // and ready for the next row
// Who needs more than that, such as the readers of strangers' files, builds on the handles.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tracelens::db {

// --- handles that close themselves ---
struct CloseDatabase {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};
using DatabaseHandle = std::unique_ptr<sqlite3, CloseDatabase>;
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using StatementHandle = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// `flags` as of sqlite3_open_v2; `name` is what an Error calls it.
[[nodiscard]] DatabaseHandle open(const std::string& name, const std::string& address, int flags);
[[nodiscard]] StatementHandle prepare(sqlite3* database, const std::string& name,
                                      std::string_view sql);
// The bytes of a text or a blob in the current row; "" for NULL. A view until the next step.
[[nodiscard]] std::string_view text_of(sqlite3_stmt* statement, int column);
[[nodiscard]] std::string_view blob_of(sqlite3_stmt* statement, int column);

// The mark of a file that TraceLens wrote (PRAGMA application_id) and its layout (user_version).
inline constexpr std::int32_t kApplicationId = 0x544C454E;
inline constexpr std::int32_t kLayoutVersion = 1;

class Database {
 public:
  // `flags` as of sqlite3_open_v2. Throws Error.
  Database(const std::string& name, int flags);
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  void run(const std::string& sql) const;  // throws Error
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  DatabaseHandle handle_;
};

class Statement {
 public:
  Statement(const Database& database, std::string_view sql);  // throws Error
  void bind(int place, std::int64_t value) { sqlite3_bind_int64(get(), place, value); }
  void bind(int place, double value) { sqlite3_bind_double(get(), place, value); }
  // The text must stay where it is until the row is written.
  void bind(int place, std::string_view text) {
    sqlite3_bind_text64(get(), place, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
  }
  void bind_null(int place) { sqlite3_bind_null(get(), place); }
  void run();                 // to its end, and back to the start
  [[nodiscard]] bool step();  // whether there is a row
  void reset() { sqlite3_reset(get()); }
  [[nodiscard]] std::int64_t integer(int column) const {
    return sqlite3_column_int64(get(), column);
  }
  [[nodiscard]] std::string_view text(int column) const { return text_of(get(), column); }
  [[nodiscard]] sqlite3_stmt* get() const { return statement_.get(); }

 private:
  const Database& database_;
  StatementHandle statement_;
};

}  // namespace tracelens::db
