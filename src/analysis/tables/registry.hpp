// registry.hpp: the index of the house: every table of every report, once for each kind of trace.
//   for (const TableInfo& table : tables_of(TraceKind::kJax)) print(table.name, table.description);
// Reports, --tables, --list-tables, the terminal's choice and the rules of comparison are read from
// here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tracelens/report.hpp>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/tables/table_info.hpp"
#include "facts/trace_kind.hpp"

namespace tracelens {

// In report order.
[[nodiscard]] std::span<const TableInfo> tables_of(TraceKind kind);

// The rules of all tables, in the order of a comparison. Of several layouts of a sheet the first
// whose keys the baseline has is taken.
[[nodiscard]] std::span<const CompareRule> compare_rules();
// How a family of ops without a rule of its own is compared: any sheet with parameters and times.
[[nodiscard]] const CompareRule& any_family_rule();

// The tables of a report: those that are on by default, or exactly those asked for.
class Selection {
 public:
  // Throws Error when a name is that of no table or group.
  Selection(TraceKind kind, const ReportOptions& options);

  [[nodiscard]] std::span<const TableInfo* const> rows() const { return rows_; }
  [[nodiscard]] bool wants(std::string_view table) const;
  [[nodiscard]] bool needs(Needs needs) const;  // any of the tables
  // Sentences about tables that were asked for by name and are not among `made`.
  [[nodiscard]] std::vector<std::string> missing(std::span<const Table> made) const;

 private:
  const ReportOptions& options_;
  std::vector<const TableInfo*> rows_;
};

// Whether the screen leaves the column of a table of a report out. Never, where it would show none.
[[nodiscard]] bool is_off_screen(const Table& table, std::string_view column);

// Throws what Selection would throw for any kind of trace.
void check_table_names(const ReportOptions& options);

}  // namespace tracelens
