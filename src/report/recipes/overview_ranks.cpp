// The first screen of the ranks of one run: whether they compute or communicate, and who is late.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "report/recipes/overview.hpp"
#include "report/recipes/overview_parts.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kMostCosts = 5;

std::int64_t ns_at(const Table& table, std::string_view column, std::size_t row) {
  return std::llround(number_at(table, column, row).value_or(0) * 1e6);
}

// Means over the ranks, of the whole trace.
Split mean_split(const Table& spread) {
  Split split;
  const std::pair<std::string_view, std::int64_t*> rows[] = {
      {"computation_time", &split.compute_ns},
      {"exposed_comm_time", &split.comm_ns},
      {"exposed_memcpy_time", &split.copy_ns},
      {"idle_time", &split.idle_ns},
      {"total_time", &split.total_ns}};
  for (std::size_t row = 0; row < spread.rows(); ++row) {
    if (text_at(spread, "step", row) != "all") continue;
    const std::string type = text_at(spread, "type", row);
    for (const auto& [name, figure] : rows)
      if (name == type) *figure = ns_at(spread, "mean (ms)", row);
  }
  return split;
}

// How long only collectives ran, by operation; with what the verdict rests on.
std::vector<Overview::Cost> costs_of(const Table& verdicts, const Split& split) {
  std::vector<Overview::Cost> costs;
  for (std::size_t row = 0; row < verdicts.rows(); ++row) {
    std::string why = text_at(verdicts, "verdict", row);
    if (const std::string late = text_at(verdicts, "late ranks", row); !late.empty())
      why += ", late rank " + late;
    const std::int64_t ns = ns_at(verdicts, "exposed (ms)", row);
    costs.push_back({.name = fmt::format("{} in group {}", text_at(verdicts, "collective", row),
                                         text_at(verdicts, "process group", row)),
                     .ns = ns,
                     .percent = percent(ns, split.total_ns),
                     .costliest = std::move(why)});
  }
  std::ranges::stable_sort(costs, std::ranges::greater{}, &Overview::Cost::ns);
  if (costs.size() > kMostCosts) costs.resize(kMostCosts);
  return costs;
}

struct Straggler {
  std::string rank;
  double percent_last = 0;
};
std::optional<Straggler> straggler_of(const Report& report) {
  constexpr double kOften = 50;  // percent of the collectives in which it came last
  const Table* const table = report.find("straggler_summary");
  if (table == nullptr || table->rows() < 2) return std::nullopt;
  const double last = number_at(*table, "pct_arrived_last", 0).value_or(0);
  if (last < kOften) return std::nullopt;
  return Straggler{text_at(*table, "rank", 0), last};
}

std::string verdict_of(std::string_view bound, const Split& split,
                       const std::optional<Straggler>& late) {
  std::string text;
  if (bound == "communication")
    text = fmt::format("Communication-bound: {:.1f}% of the time a GPU only communicates",
                       percent(split.comm_ns, split.total_ns));
  else if (bound == "host")
    text = fmt::format("Host-bound: a GPU is idle {:.1f}% of the time",
                       percent(split.idle_ns, split.total_ns));
  else if (bound == "copy")
    text = fmt::format("Copy-bound: {:.1f}% of the time a GPU only copies",
                       percent(split.copy_ns, split.total_ns));
  else
    text = fmt::format("GPU-bound: it computes {:.1f}% of the time, {:.1f}% it only communicates",
                       percent(split.compute_ns, split.total_ns),
                       percent(split.comm_ns, split.total_ns));
  if (late)
    text += fmt::format("; rank {} comes last to {:.0f}% of the collectives", late->rank,
                        late->percent_last);
  return text + '.';
}

}  // namespace

std::optional<Overview> ranks_overview(const Report& report) {
  const Table* const spread = report.find("rank_timeline_spread");
  const Table* const ranks = report.find("ranks");
  if (spread == nullptr || ranks == nullptr) return std::nullopt;
  const Split split = mean_split(*spread);
  if (split.total_ns <= 0) return std::nullopt;
  Overview overview;
  std::set<std::string> machines, steps;
  for (std::size_t row = 0; row < ranks->rows(); ++row)
    machines.insert(text_at(*ranks, "node_id", row));
  for (std::size_t row = 0; row < spread->rows(); ++row)
    if (const std::string step = text_at(*spread, "step", row); step != "all") steps.insert(step);
  overview.run =
      fmt::format("{} rank{} on {} machine{}", ranks->rows(), ranks->rows() == 1 ? "" : "s",
                  machines.size(), machines.size() == 1 ? "" : "s");
  if (!steps.empty())
    overview.run += fmt::format(" · {} step{}", steps.size(), steps.size() == 1 ? "" : "s");
  overview.run += fmt::format(" · {} of GPU time each", time_text(split.total_ns));
  const std::optional<Straggler> late = straggler_of(report);
  overview.bound = bound_of(split);
  overview.verdict = verdict_of(overview.bound, split, late);
  overview.split = split.parts();
  overview.costs_title = "exposed communication";
  overview.costliest_title = "verdict";
  if (const Table* const verdicts = report.find("comm_verdict"))
    overview.costs = costs_of(*verdicts, split);
  if (late)
    overview.advice.push_back(fmt::format(
        "See what rank {} does while the others wait for it: compare its trace with another one's.",
        late->rank));
  else if (overview.bound == "communication")
    overview.advice.emplace_back(
        "Send less or in larger messages, or let computing run meanwhile: no single rank is late.");
  if (overview.bound == "host")
    overview.advice.emplace_back("See what one rank's GPU waits for in the report of its trace.");
  if (late) {
    const auto file_of = [&](bool is_late) -> std::string {
      for (std::size_t row = 0; row < ranks->rows(); ++row)
        if ((text_at(*ranks, "rank", row) == late->rank) == is_late)
          return text_at(*ranks, "file", row);
      return {};
    };
    overview.commands.push_back(fmt::format("tracelens diff {} {}", file_of(false), file_of(true)));
  } else {
    overview.commands.push_back(fmt::format("tracelens report {}", text_at(*ranks, "file", 0)));
  }
  return overview;
}

}  // namespace tracelens
