// overview_tables.hpp: the figures of an overview as tables, for documents that begin with one.
//   for (const Table& table : overview_tables(*info.overview)) write(table);
// Their names are headings for people. A list that is empty gives no table.
#pragma once

#include <tracelens/overview.hpp>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

[[nodiscard]] std::vector<Table> overview_tables(const Overview& overview);

inline constexpr const char* kAdviceTitle = "What to try next";

}  // namespace tracelens
