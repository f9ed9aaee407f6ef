// table_rows.hpp: a finished Table as a table of SQL.
#pragma once

#include <functional>
#include <memory>
#include <tracelens/table.hpp>

#include "query/virtual_table.hpp"

namespace tracelens::query {

// Rows in the table's order. Equality with an integer finds its rows by a list made on first use.
// `table` is asked for each statement, and has the same columns each time.
using TableNow = std::function<std::shared_ptr<const Table>()>;
[[nodiscard]] std::unique_ptr<VirtualTable> table_rows(TableNow table);

}  // namespace tracelens::query
