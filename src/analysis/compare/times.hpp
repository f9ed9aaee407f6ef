// times.hpp: how long each thing of a sheet took in every report, in ms, whatever the
// layout of the sheet. Gates, the tables on the terminal and the concluding sentence start here.
//   if (const auto sheet = timed_sheet(reports, "ops_summary"))
//     for (const TimedRow& row : sheet->rows) use(row.name, row.ms[0], row.ms[1]);
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/compare/sheets.hpp"

namespace tracelens {

struct TimedRow {
  std::string name = {};
  std::vector<std::optional<double>> ms = {};  // by report; none: the report does not have it
  // Against the first report; what is not there took no time.
  [[nodiscard]] double difference(std::size_t report) const {
    return ms[report].value_or(0) - ms[0].value_or(0);
  }
  [[nodiscard]] bool is_one_sided(std::size_t report) const {
    return ms[0].has_value() != ms[report].has_value();
  }
};

struct TimedSheet {
  std::string sheet = {}, description = {};
  std::vector<TimedRow> rows = {};  // the largest difference first; a timeline in its own order
};

// Rows of one name are added up. Empty when the report has no such sheet.
[[nodiscard]] std::map<std::string, double> sheet_times(const ComparedReport& report,
                                                        std::string_view sheet);

// Nothing unless every report has the sheet, with rows.
[[nodiscard]] std::optional<TimedSheet> timed_sheet(std::span<const ComparedReport> reports,
                                                    std::string_view sheet);

// The sheets a person reads first, of those that all reports have.
[[nodiscard]] std::vector<TimedSheet> key_sheets(std::span<const ComparedReport> reports);

// Before, after, difference and percent of every other report, and which rows are one-sided.
[[nodiscard]] Table key_table(const TimedSheet& sheet, std::span<const ComparedReport> reports);

// One sentence per report but the first that can be proven wrong: what became slower and faster
// most, or that nothing did. Empty when the reports have no sheet in common that could tell.
[[nodiscard]] std::string conclusion(std::span<const ComparedReport> reports);

// Timelines of different formats call idle time differently: `idle` becomes `idle_time` where
// another report has that.
void unify_timelines(std::span<ComparedReport> reports);

}  // namespace tracelens
