// folded_columns.hpp: which columns of a wide table of a report stay closed at first.
//   write_tables(report.tables, "report.xlsx", {.is_folded = is_folded_in_report});
#pragma once

#include <string_view>
#include <tracelens/table.hpp>

namespace tracelens {

// A sheet of fifty columns opens with those that matter, by the registry: name, shape, count, time,
// share, rates and the percent of the roof. Tables that fit on a screen, and those the registry
// does not know, are open altogether.
[[nodiscard]] bool is_folded_in_report(const Table& table, std::string_view column);

}  // namespace tracelens
