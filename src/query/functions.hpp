// functions.hpp: the functions of SQL that SQLite does not have: Perfetto's and our own.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "query/trace_view.hpp"
#include "sqlite/database.hpp"

namespace tracelens::query {

struct FunctionDef {
  std::string_view usage, description;
};
[[nodiscard]] std::span<const FunctionDef> functions();

// `view`: the trace of schema main; null: a file, whose tables are asked instead. The database must
// stay where it is.
void add_functions(const db::Database& database, std::shared_ptr<TraceView> view);

}  // namespace tracelens::query
