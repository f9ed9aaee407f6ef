// sql_rows.hpp: rows of a statement as cells of an answer.
//   const Grid grid = run_sql(desk, "SELECT ...", {.offset = 0, .rows = 500}, control);
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/query.hpp>

#include "mcp/answer.hpp"
#include "mcp/control.hpp"
#include "mcp/trace_store.hpp"

namespace tracelens::mcp {

struct RowWindow {
  std::size_t offset = 0, rows = 500;
  std::size_t counted = 1'000'000;  // rows are counted up to here
  double seconds = 10;
};

struct SqlRows {
  Grid grid;
  std::optional<std::size_t> total;  // none: there are more than were counted
};

// An argument as a value of a statement. Throws ToolError{complaint} when it is no text and no number.
[[nodiscard]] QueryParam query_param(std::string name, const Value& value,
                                     std::string_view complaint);

// Throws ToolError with what SQLite says and where.
[[nodiscard]] SqlRows run_sql(TraceDesk& desk, const std::string& sql,
                              std::span<const QueryParam> params, const RowWindow& window,
                              CallControl& control);

}  // namespace tracelens::mcp
