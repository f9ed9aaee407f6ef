#include "report/sinks/overview_tables.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace tracelens {
namespace {

double as_ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

Table parts_table(std::string title, std::span<const Overview::Part> parts) {
  const ColumnSpec columns[] = {{"part", Kind::kText, "", ""},
                                {"time", Kind::kReal, "ms", ""},
                                {"share", Kind::kReal, "%", "of the GPU's time"}};
  Table table{std::move(title), "", columns};
  for (const Overview::Part& part : parts) table.add_row(part.name, as_ms(part.ns), part.percent);
  return table;
}

// Columns about which no row has anything to say are left out.
Table costs_table(std::string title, const Overview& overview) {
  const std::span<const Overview::Cost> costs = overview.costs;
  const bool has_roof =
      std::ranges::any_of(costs, [](const auto& cost) { return cost.roof_percent.has_value(); });
  const bool has_costliest =
      std::ranges::any_of(costs, [](const auto& cost) { return !cost.costliest.empty(); });
  std::vector<ColumnSpec> columns = {{"name", Kind::kText, "", ""},
                                     {"time", Kind::kReal, "ms", ""},
                                     {"share", Kind::kReal, "%", "of all kernels' time"}};
  if (has_roof) columns.push_back({"of roof", Kind::kReal, "%", "reached of what the GPU can do"});
  if (has_costliest) columns.push_back({overview.costliest_title, Kind::kText, "", ""});
  Table table{std::move(title), "", columns};
  for (const Overview::Cost& cost : costs) {
    std::vector<Cell> row = {cost.name, as_ms(cost.ns), cost.percent};
    if (has_roof) row.push_back(cost.roof_percent ? Cell{*cost.roof_percent} : Cell{Missing{}});
    if (has_costliest) row.emplace_back(cost.costliest);
    table.append(row);
  }
  return table;
}

Table causes_table(const Overview& overview) {
  const ColumnSpec columns[] = {
      {"cause", Kind::kText, "", ""},
      {overview.causes_per_step ? "saves a step" : "saves", Kind::kReal, "ms", ""},
      {"share", Kind::kReal, "%", "of the time without the profiler"},
      {"try", Kind::kText, "", ""}};
  Table table{overview.causes_title, "", columns};
  for (const Overview::Cause& cause : overview.causes)
    table.add_row(cause.id + "  " + cause.title, as_ms(cause.saving_ns), cause.percent,
                  cause.remedy);
  return table;
}

}  // namespace

std::vector<Table> overview_tables(const Overview& overview) {
  std::vector<Table> tables;
  if (!overview.causes.empty()) tables.push_back(causes_table(overview));
  if (!overview.split.empty())
    tables.push_back(parts_table("Where the GPU's time went", overview.split));
  if (!overview.idle_causes.empty())
    tables.push_back(parts_table("Why the GPU was idle", overview.idle_causes));
  if (!overview.costs.empty())
    tables.push_back(costs_table(
        overview.costs_title.empty() ? "What cost most" : overview.costs_title, overview));
  return tables;
}

}  // namespace tracelens
