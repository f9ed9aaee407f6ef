// virtual_table.hpp: a table of SQLite whose rows we make: what its C interface asks for, as classes.
//   add_module(database, "tl_rows", [&](std::span<const std::string> words) { return open(words); });
//   database.run("CREATE VIRTUAL TABLE slice USING tl_rows(slice)");
// What a function throws becomes the error of the statement.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>
#include <vector>

#include "sqlite/database.hpp"

namespace tracelens::query {

class VirtualCursor {
 public:
  virtual ~VirtualCursor() = default;
  // Begins at the first row of a plan; it may be called again. `text` is the plan's until then.
  virtual void filter(int plan, const char* text, std::span<sqlite3_value* const> values) = 0;
  [[nodiscard]] virtual bool done() const = 0;
  virtual void next() = 0;
  virtual void column(sqlite3_context* to, int column) const = 0;
  [[nodiscard]] virtual std::int64_t rowid() const = 0;
};

class VirtualTable {
 public:
  virtual ~VirtualTable() = default;
  [[nodiscard]] virtual std::string declaration() const = 0;  // CREATE TABLE x(a INTEGER, ...)
  // An SQLite status: SQLITE_OK, or SQLITE_CONSTRAINT when the plan cannot be.
  virtual int best_index(sqlite3_index_info& info) = 0;
  [[nodiscard]] virtual std::unique_ptr<VirtualCursor> open() = 0;
};

// The table for the words between the parentheses of CREATE VIRTUAL TABLE. Throws Error.
using MakeTable = std::function<std::unique_ptr<VirtualTable>(std::span<const std::string> words)>;

// Tables that are created; `eponymous` ones are there without it, under the name of the module.
// `trusted` is true while the columns of a table are told to SQLite, which asks the authorizer as if
// a table were created.
void add_module(const db::Database& database, const std::string& name, MakeTable make,
                bool& trusted, bool eponymous = false);

void set_result(sqlite3_context* to, std::string_view text);  // the text outlives the connection
void set_result(sqlite3_context* to, const Value& value);     // lists and dicts as JSON

}  // namespace tracelens::query
