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

std::int64_t ns_at(const Table& table, std::string_view column, std::size_t row) {
  return std::llround(number_at(table, column, row).value_or(0) * 1e6);
}

// Means over the ranks, of the whole trace.
Split mean_split(const Table& spread) {
  Split split;
  for (std::size_t row = 0; row < spread.rows(); ++row)
    if (text_at(spread, "step", row) == "all")
      split.add(text_at(spread, "type", row), ns_at(spread, "mean (ms)", row));
  return split;
}

// How long only collectives ran, by operation; with what the verdict rests on.
std::vector<Overview::Cost> costs_of(const Table& verdicts, const Split& split) {
  std::vector<Overview::Cost> costs;
  for (std::size_t row = 0; row < verdicts.rows(); ++row) {
    std::string why = text_at(verdicts, "verdict", row);
    // "5 (100%), 2 (40%)": the first is the one most often late.
    const std::string late = text_at(verdicts, "late ranks", row);
    if (!late.empty()) why += "; rank " + late.substr(0, late.find_first_of(" ,"));
    const std::int64_t ns = ns_at(verdicts, "exposed (ms)", row);
    costs.push_back({.name = fmt::format("{} ({})", text_at(verdicts, "collective", row),
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

std::string verdict_of(const Split& split, const std::optional<Straggler>& late) {
  std::string text = verdict_on(split, "a GPU is idle", "a GPU");
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
  overview.run += fmt::format(" · over {}", time_text(split.total_ns));
  const std::optional<Straggler> late = straggler_of(report);
  overview.bound = bound_of(split);
  overview.verdict = verdict_of(split, late);
  overview.split = split.parts();
  overview.costs_title = "exposed, by group";
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
  const auto diff_of_ranks = [&]() -> std::string {
    if (!late) return {};
    const auto file_of = [&](bool is_late) -> std::string {
      for (std::size_t row = 0; row < ranks->rows(); ++row)
        if ((text_at(*ranks, "rank", row) == late->rank) == is_late)
          return text_at(*ranks, "file", row);
      return {};
    };
    const std::string other = file_of(false), its = file_of(true);
    if (other == its) return {};  // a database of several ranks
    return fmt::format("tracelens diff {} {}", shell_word(other), shell_word(its));
  };
  overview.commands.push_back(diff_of_ranks());
  if (overview.commands.back().empty())
    overview.commands.back() =
        fmt::format("tracelens report {}", shell_word(text_at(*ranks, "file", 0)));
  return overview;
}

}  // namespace tracelens
