// statement_table.hpp: a table that is a statement with one argument: ancestor_slice(17).
//   add_statement_table(database, {"ancestor_slice", "id", "SELECT ... WHERE id = ?1"});
// The same statement serves a trace and a file.
#pragma once

#include <span>
#include <string_view>

#include "sqlite/database.hpp"

namespace tracelens::query {

struct StatementTableDef {
  std::string_view name, argument, sql, description;
};
[[nodiscard]] std::span<const StatementTableDef> statement_tables();
// The database must outlive its tables and stay where it is; `trusted` as of add_module().
void add_statement_tables(const db::Database& database, bool& trusted);

}  // namespace tracelens::query
