// tables.hpp: one table of the report, by its name. In src/report.
//   const std::optional<Table> ops = make_table(trace, "ops_summary");
//   if (ops) std::cout << render_terminal(*ops, {.max_rows = 10});
// Names, columns and meanings of all tables are in docs/tables.md; table_list() has them, too.
#pragma once

#include <optional>
#include <string_view>
#include <tracelens/report.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>

namespace tracelens {

// Nothing but what this table needs is computed. Nothing comes back when the trace does not have
// what it takes (modules, steps, several GPUs ...). Throws Error when no report has a table of this
// name, and what make_report() throws. For several tables of one trace name them in
// ReportOptions::tables: what they share is then computed once.
[[nodiscard]] std::optional<Table> make_table(const Trace& trace, std::string_view name,
                                              const ReportOptions& options = {});

}  // namespace tracelens
