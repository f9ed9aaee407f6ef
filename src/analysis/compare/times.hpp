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
  std::string note = {};  // "replaced, 8 times": the row is about an exchange, not about one op
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

// What explains the difference between two reports: the finest sheet that both have, in which things
// that only one of them has are put together as exchanges: those of one category, then all others.
// Nothing for more reports, or when no such sheet is there.
[[nodiscard]] std::optional<TimedSheet> explain_change(std::span<const ComparedReport> reports);
// Does so in the sheet of two reports.
void pair_exchanges(TimedSheet& sheet, std::span<const ComparedReport> reports);
// "a + b → c", as the name of an exchange.
[[nodiscard]] std::string exchange_name(std::string_view removed, std::string_view added);
inline constexpr std::string_view kChangesSheet = "what_changed";

// The sheets a person reads first, of those that all reports have.
[[nodiscard]] std::vector<TimedSheet> key_sheets(std::span<const ComparedReport> reports);

// Before, after, difference and percent of every other report, and which rows are one-sided or
// exchanges. Rows without any time are left out.
[[nodiscard]] Table key_table(const TimedSheet& sheet, std::span<const ComparedReport> reports);

// For every report but the first: its total time against that of the first and what part of the
// timeline changed; then a sentence that can be proven wrong: what became slower and faster most,
// or that nothing did. `changes`: what explains the difference between two reports, none: by name.
// Empty when the reports have no sheet in common that could tell.
[[nodiscard]] std::string conclusion(std::span<const ComparedReport> reports,
                                     const TimedSheet* changes = nullptr);

// Timelines of different formats call idle time differently: `idle` becomes `idle_time` where
// another report has that.
void unify_timelines(std::span<ComparedReport> reports);

}  // namespace tracelens
