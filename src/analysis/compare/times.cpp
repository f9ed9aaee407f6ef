#include "analysis/compare/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <utility>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/noise.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kTimeline = "gpu_timeline";
constexpr std::string_view kKeySheets[] = {
    kTimeline, "ops_summary_by_category",    "ops_summary",      "hlo_ops_by_kind",
    "hlo_ops", "kernel_summary_by_category", "category_summary", "kernel_summary",
};
// What the conclusion is about: the first sheet that all reports have, and what its rows are.
constexpr std::pair<std::string_view, std::string_view> kConcluding[] = {
    {"ops_summary", "op"},
    {"hlo_ops", "HLO op"},
    {"kernel_summary", "kernel"},
    {"category_summary", "kind of work"},
    {kTimeline, "part of the timeline"},
};

double number_at(const Table::Column& column, std::size_t row) {
  return column.spec().kind == Kind::kInteger ? static_cast<double>(column.integers()[row])
                                              : column.reals()[row];
}

// Whether a row is the mean of the rows above it, and no time of its own.
bool is_mean(const Table& table, std::size_t row) {
  return table.has_column("GPU ID") && plain_text(table.column("GPU ID"), row) == "Avg";
}

// Calls `use(name, ms)` for every row that has a time.
template <class Use>
void for_each_time(const ComparedReport& report, std::string_view sheet, bool with_place,
                   const Use& use) {
  const Table* const table = report.find(sheet);
  const auto measure = table == nullptr ? std::nullopt : sheet_measure(*table);
  if (!measure) return;
  const Table::Column& keys = table->column(measure->key);
  const Table::Column& values = table->column(measure->metric);
  if (values.spec().kind != Kind::kInteger && values.spec().kind != Kind::kReal) return;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const double value = number_at(values, row);
    if (values.is_missing(row) || !std::isfinite(value) || is_mean(*table, row)) continue;
    std::string name = plain_text(keys, row);
    if (with_place && !measure->place.empty())
      name += " in " + plain_text(table->column(measure->place), row);
    use(name, value * measure->ms_per_unit);
  }
}

double largest_difference(const TimedRow& row) {
  double largest = 0;
  for (std::size_t report = 1; report < row.ms.size(); ++report)
    largest = std::max(largest, std::abs(row.difference(report)));
  return largest;
}

std::optional<double> percent(const TimedRow& row, std::size_t report) {
  if (row.is_one_sided(report) || row.ms[0].value_or(0) == 0) return std::nullopt;
  return 100 * row.difference(report) / *row.ms[0];
}

std::string change_text(std::string_view what, const TimedRow& row, std::size_t report,
                        std::span<const ComparedReport> reports) {
  if (row.is_one_sided(report)) {
    const std::size_t where = row.ms[0] ? 0 : report;
    return fmt::format("{} '{}', only in {}: {:.3f} ms", what, row.name, reports[where].tag,
                       *row.ms[where]);
  }
  const auto share = percent(row, report);
  return fmt::format("{} '{}', {:.3f} to {:.3f} ms ({:+.3f} ms{})", what, row.name,
                     row.ms[0].value_or(0), row.ms[report].value_or(0), row.difference(report),
                     share ? fmt::format(", {:+.1f}%", *share) : "");
}

std::string sentence_about(const TimedSheet& sheet, std::string_view what, std::size_t report,
                           std::span<const ComparedReport> reports) {
  double before = 0, after = 0;
  bool is_identical = true;
  for (const TimedRow& row : sheet.rows) {
    before += row.ms[0].value_or(0);
    after += row.ms[report].value_or(0);
    is_identical &= !row.is_one_sided(report) && row.difference(report) == 0;
  }
  std::string text = fmt::format("{} against {}: ", reports[report].tag, reports[0].tag);
  if (is_identical) return text + fmt::format("every {} took exactly the same time.", what);
  const TimedRow *worst = nullptr, *best = nullptr;
  for (const TimedRow& row : sheet.rows) {
    const double difference = row.difference(report);
    if (!is_notable(row.ms[0].value_or(0), row.ms[report].value_or(0), std::max(before, after)))
      continue;
    if (difference > 0 && (worst == nullptr || difference > worst->difference(report)))
      worst = &row;
    if (difference < 0 && (best == nullptr || difference < best->difference(report))) best = &row;
  }
  if (worst == nullptr && best == nullptr)
    return text +
           fmt::format("no {} changed by more than {}% of its own time and {}% of the time of all.",
                       what, kRunToRunPercent, kWorthMentioningPercent);
  if (worst != nullptr) text += "largest regression: " + change_text(what, *worst, report, reports);
  if (worst != nullptr && best != nullptr) text += "; ";
  if (best != nullptr) text += "largest improvement: " + change_text(what, *best, report, reports);
  return text + ".";
}

}  // namespace

std::map<std::string, double> sheet_times(const ComparedReport& report, std::string_view sheet) {
  std::map<std::string, double> times;
  for_each_time(report, sheet, false,
                [&times](const std::string& name, double ms) { times[name] += ms; });
  return times;
}

std::optional<TimedSheet> timed_sheet(std::span<const ComparedReport> reports,
                                      std::string_view sheet) {
  TimedSheet result{.sheet = std::string{sheet}};
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    bool has_rows = false;
    for_each_time(reports[i], sheet, true, [&](const std::string& name, double ms) {
      has_rows = true;
      const auto [place, is_new] = places.try_emplace(name, result.rows.size());
      if (is_new) result.rows.push_back({.name = name, .ms = {}});
      TimedRow& row = result.rows[place->second];
      row.ms.resize(reports.size());
      row.ms[i] = row.ms[i].value_or(0) + ms;
    });
    if (!has_rows) return std::nullopt;
  }
  if (result.rows.empty()) return std::nullopt;
  if (sheet == kTimeline) {
    result.description = reports.front().find(sheet)->description();
    return result;
  }
  result.description = "What took how long, the largest difference first";
  std::ranges::stable_sort(result.rows, std::greater<>{}, largest_difference);
  return result;
}

std::vector<TimedSheet> key_sheets(std::span<const ComparedReport> reports) {
  std::vector<TimedSheet> sheets;
  for (const std::string_view name : kKeySheets)
    if (auto sheet = timed_sheet(reports, name)) sheets.push_back(*std::move(sheet));
  return sheets;
}

Table key_table(const TimedSheet& sheet, std::span<const ComparedReport> reports) {
  const bool are_two = reports.size() == 2;
  const bool has_one_sided = std::ranges::any_of(sheet.rows, [&](const TimedRow& row) {
    return std::ranges::any_of(row.ms, [](const auto& ms) { return !ms.has_value(); });
  });
  std::vector<ColumnSpec> columns = {{"name", Kind::kText, "", "what took the time"},
                                     {reports[0].tag, Kind::kReal, "ms", "time"}};
  for (std::size_t i = 1; i < reports.size(); ++i) {
    const std::string of = are_two ? "" : reports[i].tag + " ";
    columns.push_back({reports[i].tag, Kind::kReal, "ms", "time"});
    columns.push_back({of + "difference", Kind::kReal, "ms", "time minus that of the first"});
    columns.push_back(
        {of + "change %", Kind::kReal, "", "the difference, in percent of the first"});
  }
  if (has_one_sided) columns.push_back({"only in", Kind::kText, "", "the reports that have it"});
  Table table{sheet.sheet, sheet.description, columns};
  RowCells cells;
  for (const TimedRow& row : sheet.rows) {
    cells.clear();
    cells.add(row.name);
    std::vector<std::string> where;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      cells.add(row.ms[i]);
      if (row.ms[i]) where.push_back(reports[i].tag);
      if (i == 0) continue;
      cells.add(row.ms[0] || row.ms[i] ? std::optional{row.difference(i)} : std::nullopt);
      cells.add(percent(row, i));
    }
    if (has_one_sided)
      cells.add(where.size() == reports.size()
                    ? std::nullopt
                    : std::optional{fmt::format("{}", fmt::join(where, ", "))});
    table.append(cells.cells());
  }
  return table;
}

std::string conclusion(std::span<const ComparedReport> reports) {
  for (const auto& [name, what] : kConcluding) {
    const auto sheet = timed_sheet(reports, name);
    if (!sheet) continue;
    std::string text;
    for (std::size_t i = 1; i < reports.size(); ++i)
      text += sentence_about(*sheet, what, i, reports) + "\n";
    return text;
  }
  return {};
}

void unify_timelines(std::span<ComparedReport> reports) {
  constexpr const char *kShort = "idle", *kLong = "idle_time";
  const auto has = [](const ComparedReport& report, const char* row) {
    return sheet_times(report, kTimeline).contains(row);
  };
  const bool is_mixed = std::ranges::any_of(
      reports, [&](const ComparedReport& report) { return has(report, kLong); });
  for (ComparedReport& report : reports) {
    if (!is_mixed || has(report, kLong) || !has(report, kShort)) continue;
    Table& old = *std::ranges::find(report.tables, kTimeline, &Table::name);
    std::vector<ColumnSpec> columns;
    for (const Table::Column& column : old.columns()) columns.push_back(column.spec());
    Table renamed{old.name(), old.description(), columns};
    std::vector<Cell> cells(columns.size());
    for (std::size_t row = 0; row < old.rows(); ++row) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        cells[i] = old.cell(row, i);
        if (const auto* text = std::get_if<std::string>(&cells[i]); text && *text == kShort)
          cells[i] = std::string{kLong};
      }
      renamed.append(cells);
    }
    old = std::move(renamed);
  }
}

}  // namespace tracelens
