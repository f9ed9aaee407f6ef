// table_names.hpp: tables and columns by the names that a model gives them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

#include "mcp/trace_store.hpp"

namespace tracelens::mcp {

// As QuerySession::columns(). Throws ToolError with the nearest names when there is no such table.
[[nodiscard]] Table columns_of(TraceDesk& desk, const std::string& table);

// The plain name of a column that was given as such or by its title. Throws ToolError with the table's
// columns.
[[nodiscard]] std::string plain_column(const Table& columns, const std::string& name);

// The columns that matter most, as plain names, the most important first; empty: all are alike.
[[nodiscard]] std::vector<std::string> compact_columns(TraceDesk& desk, const std::string& table);

}  // namespace tracelens::mcp
