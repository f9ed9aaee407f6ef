#include "analysis/compare/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tracelens/printed_text.hpp>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <utility>

#include "analysis/compare/key_cell.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/noise.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kTimeline = "gpu_timeline";
constexpr const char* kChangesTitle = "What explains the difference, the largest first";
constexpr std::string_view kKeySheets[] = {
    "ops_summary", "ops_summary_by_category",    "hlo_ops",          "hlo_ops_by_kind",
    kTimeline,     "kernel_summary_by_category", "category_summary", "kernel_summary",
};
// What the conclusion is about: the first sheet that all reports have, and what its rows are.
constexpr std::pair<std::string_view, std::string_view> kConcluding[] = {
    {"ops_summary", "op"},
    {"hlo_ops", "HLO op"},
    {"kernel_summary", "kernel"},
    {"category_summary", "kind of work"},
    {kTimeline, "part of the timeline"},
};

// Whether a row is the mean of the rows above it, and no time of its own.
bool is_mean(const Table& table, std::size_t row) {
  return table.has_column("GPU ID") && plain_text(table.column("GPU ID"), row) == "Avg";
}

// Columns that say what kind of work a row is, in sheets whose rows may be exchanged for others.
constexpr std::string_view kCategoryColumns[] = {"Categories", "kind", "kernel_category",
                                                 "Category"};

// Calls `use(name, ms, row)` for every row that has a time.
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
      if (const std::string place = plain_text(table->column(measure->place), row); !place.empty())
        name += " in " + place;
    use(name, value * measure->ms_per_unit, row);
  }
}

double largest_difference(const TimedRow& row) {
  double largest = 0;
  for (std::size_t report = 1; report < row.ms.size(); ++report)
    largest = std::max(largest, std::abs(row.difference(report)));
  return largest;
}

double largest_difference_of(const TimedRow* row) { return largest_difference(*row); }

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
  return fmt::format("{} '{}'{}, {:.3f} to {:.3f} ms ({:+.3f} ms{})", what, row.name,
                     row.note.empty() ? "" : fmt::format(" ({})", row.note), row.ms[0].value_or(0),
                     row.ms[report].value_or(0), row.difference(report),
                     share ? fmt::format(", {:+.1f}%", *share) : "");
}

// "largest regression: …; largest improvement: …", or that there is none.
std::string sentence_about(const TimedSheet& sheet, std::string_view what, std::size_t report,
                           std::span<const ComparedReport> reports) {
  double before = 0, after = 0;
  bool is_identical = true;
  for (const TimedRow& row : sheet.rows) {
    before += row.ms[0].value_or(0);
    after += row.ms[report].value_or(0);
    is_identical &= !row.is_one_sided(report) && row.difference(report) == 0;
  }
  if (is_identical) return fmt::format("every {} took exactly the same time.", what);
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
    return fmt::format("no {} changed by more than {}% of its own time and {}% of the time of all.",
                       what, kRunToRunPercent, kWorthMentioningPercent);
  std::string text;
  if (worst != nullptr) text += "largest regression: " + change_text(what, *worst, report, reports);
  if (worst != nullptr && best != nullptr) text += "; ";
  if (best != nullptr) text += "largest improvement: " + change_text(what, *best, report, reports);
  return text + ".";
}

// "100.826 ms became 35.346 ms (-65.480 ms, -64.9%): computation -76.780 ms, idle time +11.293 ms.
// The GPU is busy 64.2% of the time, before 98.7%." Empty without a timeline.
std::string total_sentence(const ComparedReport& first, const ComparedReport& other) {
  constexpr std::pair<const char*, const char*> kParts[] = {
      {"computation_time", "computation"},
      {"kernel", "kernels"},
      {"exposed_comm_time", "communication that nothing hides"},
      {"exposed_memcpy_time", "copies that nothing hides"},
      {"memory", "copies"},
      {"idle_time", "idle time"},
      {"idle", "idle time"}};
  const std::map<std::string, double> before = sheet_times(first, kTimeline),
                                      after = sheet_times(other, kTimeline);
  const auto time = [](const std::map<std::string, double>& times, const char* row) {
    const auto found = times.find(row);
    return found == times.end() ? 0 : found->second;
  };
  const double total[] = {time(before, "total_time"), time(after, "total_time")};
  if (!(total[0] > 0) || !(total[1] > 0)) return {};
  std::string text =
      fmt::format("{:.3f} ms became {:.3f} ms ({:+.3f} ms, {:+.1f}%)", total[0], total[1],
                  total[1] - total[0], 100 * (total[1] - total[0]) / total[0]);
  const char* separator = ": ";
  for (const auto& [row, word] : kParts) {
    if (before.contains(row) != after.contains(row) ||
        !is_notable(time(before, row), time(after, row), std::max(total[0], total[1])))
      continue;
    text += fmt::format("{}{} {:+.3f} ms", std::exchange(separator, ", "), word,
                        time(after, row) - time(before, row));
  }
  const auto busy = [&](const auto& times, double all) {
    return 100 * time(times, "busy_time") / all;
  };
  if (before.contains("busy_time") && after.contains("busy_time"))
    text += fmt::format(". The GPU is busy {:.1f}% of the time, before {:.1f}%",
                        busy(after, total[1]), busy(before, total[0]));
  return text + ".";
}

// --- exchanges ---

// The category of each row of a sheet, by name; without a column for it all are of one.
std::unordered_map<std::string, std::string> categories_of(const ComparedReport& report,
                                                           std::string_view sheet) {
  std::unordered_map<std::string, std::string> categories;
  for_each_time(report, sheet, true, [&](const std::string& name, double, std::size_t row) {
    const Table& table = *report.find(sheet);
    const auto column = std::ranges::find_if(
        kCategoryColumns, [&](std::string_view each) { return table.has_column(each); });
    categories.emplace(name, column == std::end(kCategoryColumns)
                                 ? std::string{}
                                 : plain_text(table.column(*column), row));
  });
  return categories;
}

// "aten::bmm + aten::where + 7 more"; the rows stand by their size.
std::string names_of(const std::vector<const TimedRow*>& rows) {
  constexpr std::size_t kNamed = 2, kLongestName = 48;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, rows.size()); ++i)
    text += (i == 0 ? "" : " + ") + shorten(rows[i]->name, kLongestName);
  return rows.size() > kNamed ? text + fmt::format(" + {} more", rows.size() - kNamed) : text;
}

// Rows that only one of two reports has.
using OneSided = std::array<std::vector<const TimedRow*>, 2>;

TimedRow exchange_of(const OneSided& rows, std::string note) {
  TimedRow row{.name = exchange_name(names_of(rows[0]), names_of(rows[1])),
               .ms = {0.0, 0.0},
               .note = std::move(note)};
  for (const std::size_t side : {0U, 1U})
    for (const TimedRow* each : rows[side]) *row.ms[side] += *each->ms[side];
  return row;
}

}  // namespace

std::map<std::string, double> sheet_times(const ComparedReport& report, std::string_view sheet) {
  std::map<std::string, double> times;
  for_each_time(report, sheet, false,
                [&times](const std::string& name, double ms, std::size_t) { times[name] += ms; });
  return times;
}

std::optional<TimedSheet> timed_sheet(std::span<const ComparedReport> reports,
                                      std::string_view sheet) {
  TimedSheet result{.sheet = std::string{sheet}};
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    bool has_rows = false;
    for_each_time(reports[i], sheet, true, [&](const std::string& name, double ms, std::size_t) {
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

std::string exchange_name(std::string_view removed, std::string_view added) {
  return fmt::format("{} → {}", removed, added);
}

void pair_exchanges(TimedSheet& sheet, std::span<const ComparedReport> reports) {
  const auto first = categories_of(reports[0], sheet.sheet),
             second = categories_of(reports[1], sheet.sheet);
  std::map<std::string, OneSided> by_category;
  std::vector<TimedRow> rows;
  for (const TimedRow& row : sheet.rows) {
    if (!row.is_one_sided(1)) {
      rows.push_back(row);
      continue;
    }
    const std::size_t side = row.ms[0] ? 0 : 1;
    const auto& categories = side == 0 ? first : second;
    const auto category = categories.find(row.name);
    by_category[category == categories.end() ? "" : category->second][side].push_back(&row);
  }
  OneSided others;
  for (const auto& [category, one_sided] : by_category) {
    // A compiled kernel may stand for work of any kind.
    const bool is_compiled = category.find("triton") != category.npos;
    if (!one_sided[0].empty() && !one_sided[1].empty() && !is_compiled) {
      rows.push_back(exchange_of(one_sided, "replaced"));
      continue;
    }
    for (const std::size_t side : {0U, 1U})
      others[side].insert(others[side].end(), one_sided[side].begin(), one_sided[side].end());
  }
  for (auto& side : others) std::ranges::stable_sort(side, std::greater<>{}, largest_difference_of);
  if (!others[0].empty() && !others[1].empty())
    rows.push_back(exchange_of(others, "only in one of them"));
  else
    for (const auto& side : others)
      for (const TimedRow* row : side) rows.push_back(*row);
  sheet.rows = std::move(rows);
  std::ranges::stable_sort(sheet.rows, std::greater<>{}, largest_difference);
}

std::optional<TimedSheet> explain_change(std::span<const ComparedReport> reports) {
  if (reports.size() != 2) return std::nullopt;
  for (const auto& [name, what] : kConcluding) {
    auto sheet = name == kTimeline ? std::nullopt : timed_sheet(reports, name);
    if (!sheet) continue;
    pair_exchanges(*sheet, reports);
    sheet->description = kChangesTitle;
    return sheet;
  }
  return std::nullopt;
}

std::vector<TimedSheet> key_sheets(std::span<const ComparedReport> reports) {
  std::vector<TimedSheet> sheets;
  for (const std::string_view name : kKeySheets)
    if (auto sheet = timed_sheet(reports, name)) sheets.push_back(*std::move(sheet));
  return sheets;
}

Table key_table(const TimedSheet& sheet, std::span<const ComparedReport> reports) {
  const bool are_two = reports.size() == 2;
  const bool has_notes = std::ranges::any_of(sheet.rows, [&](const TimedRow& row) {
    return !row.note.empty() ||
           std::ranges::any_of(row.ms, [](const auto& ms) { return !ms.has_value(); });
  });
  std::vector<ColumnSpec> columns = {{"name", Kind::kText, "text", "what took the time"},
                                     {reports[0].tag, Kind::kReal, "ms", "time"}};
  for (std::size_t i = 1; i < reports.size(); ++i) {
    const std::string of = are_two ? "" : reports[i].tag + " ";
    columns.push_back({reports[i].tag, Kind::kReal, "ms", "time"});
    columns.push_back({of + "difference", Kind::kReal, "ms", "time minus that of the first"});
    columns.push_back({of + "change", Kind::kReal, "", "the difference, in percent of the first"});
  }
  if (has_notes)
    columns.push_back({"note", Kind::kText, "", "the reports that have it, or what replaced it"});
  Table table{sheet.sheet, sheet.description, columns};
  RowCells cells;
  for (const TimedRow& row : sheet.rows) {
    if (std::ranges::all_of(row.ms, [](const auto& ms) { return ms.value_or(0) == 0; })) continue;
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
    if (has_notes && where.size() < reports.size())
      cells.add(fmt::format("only in {}", fmt::join(where, ", ")));
    else if (has_notes)
      cells.add(row.note.empty() ? std::nullopt : std::optional{row.note});
    table.append(cells.cells());
  }
  return table;
}

std::string conclusion(std::span<const ComparedReport> reports, const TimedSheet* changes) {
  std::optional<TimedSheet> sheet;
  if (changes != nullptr)
    sheet = *changes;
  else if (reports.size() == 2)
    sheet = explain_change(reports);
  std::string_view what;
  for (const auto& [name, word] : kConcluding) {
    if (!sheet) sheet = timed_sheet(reports, name);
    if (sheet && sheet->sheet == name) what = word;
  }
  std::string text;
  for (std::size_t i = 1; sheet && i < reports.size(); ++i) {
    const std::string total = total_sentence(reports[0], reports[i]);
    std::string most = sentence_about(*sheet, what, i, reports);
    if (!total.empty()) most[0] = static_cast<char>(most[0] - 'a' + 'A');
    text += fmt::format("{} against {}: {}{}{}\n", single_line(reports[i].tag),
                        single_line(reports[0].tag), total, total.empty() ? "" : "\n",
                        single_line(most));
  }
  return text;
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
