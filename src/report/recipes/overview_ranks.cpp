// The first screen of the ranks of one run: whether they compute or communicate, and who is late.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
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

// Of "5 (85%), 2 (12%)" the first: the one most often late.
struct LateRank {
  std::string rank;
  double percent = 0;  // of the collectives it came last to
};
std::optional<LateRank> first_late_rank(const Table& verdicts, std::size_t row) {
  const std::string late = text_at(verdicts, "late ranks", row);
  const std::size_t open = late.find(" (");
  if (open == std::string::npos) return std::nullopt;
  double percent = 0;
  std::from_chars(late.data() + open + 2, late.data() + late.size(), percent);
  return LateRank{late.substr(0, open), percent};
}

bool has_imbalance(const Table& verdicts, std::size_t row) {
  return text_at(verdicts, "verdict", row).find("imbalance") != std::string::npos;
}

// How long only collectives ran, by operation; with what the verdict rests on.
void add_collectives(const Table& verdicts, const Split& split,
                     std::vector<Overview::Cost>& costs) {
  for (std::size_t row = 0; row < verdicts.rows(); ++row) {
    std::string why = text_at(verdicts, "verdict", row);
    if (const auto late = first_late_rank(verdicts, row)) why += "; rank " + late->rank;
    const std::int64_t ns = ns_at(verdicts, "exposed (ms)", row);
    costs.push_back({.name = fmt::format("{} ({})", text_at(verdicts, "collective", row),
                                         text_at(verdicts, "process group", row)),
                     .ns = ns,
                     .percent = percent(ns, split.total_ns),
                     .costliest = std::move(why)});
  }
}

// The same of sends and receives: the mean of the ranks that have some.
void add_transfers(const Table& transfers, const Split& split, std::vector<Overview::Cost>& costs) {
  struct Group {
    std::int64_t exposed_ns = 0;
    std::set<std::string> ranks;
  };
  std::map<std::string, Group> groups;
  for (std::size_t row = 0; row < transfers.rows(); ++row) {
    Group& group = groups[text_at(transfers, "process group", row)];
    group.exposed_ns += ns_at(transfers, "exposed (ms)", row);
    for (const char* const side : {"from rank", "to rank"})
      if (std::string rank = text_at(transfers, side, row); !rank.empty())
        group.ranks.insert(std::move(rank));
  }
  for (const auto& [name, group] : groups) {
    const std::int64_t ns = group.exposed_ns / std::max<std::int64_t>(1, std::ssize(group.ranks));
    costs.push_back({.name = fmt::format("sends and receives ({})", name),
                     .ns = ns,
                     .percent = percent(ns, split.total_ns),
                     .costliest = "see p2p_summary"});
  }
}

std::vector<Overview::Cost> costs_of(const Report& report, const Split& split) {
  std::vector<Overview::Cost> costs;
  if (const Table* const verdicts = report.find("comm_verdict"))
    add_collectives(*verdicts, split, costs);
  if (const Table* const transfers = report.find("p2p_summary"))
    add_transfers(*transfers, split, costs);
  std::ranges::stable_sort(costs, std::ranges::greater{}, &Overview::Cost::ns);
  if (costs.size() > kMostCosts) costs.resize(kMostCosts);
  return costs;
}

// Whom the ranks wait for, as comm_verdict has it.
struct Waiting {
  bool is_known = false;       // there are collectives of several ranks
  bool has_imbalance = false;  // in some of them ranks wait
  struct Straggler {
    std::string rank;
    double percent_last = 0;     // of the collectives below to which it came last
    double percent_waiting = 0;  // of all waiting: in collectives it is mostly last to
  };
  std::optional<Straggler> straggler = {};
};

Waiting waiting_of(const Report& report) {
  constexpr double kOften = 50;    // percent of an operation's collectives it came last to
  constexpr double kNotable = 25;  // percent of all waiting
  const Table* const verdicts = report.find("comm_verdict");
  if (verdicts == nullptr || verdicts->rows() == 0) return {};
  Waiting waiting{.is_known = true};
  struct Late {
    double waited_ms = 0, collectives = 0, last = 0;
  };
  std::map<std::string, Late> by_rank;
  double all_ms = 0;
  for (std::size_t row = 0; row < verdicts->rows(); ++row) {
    // The table has the mean of the ranks.
    const double waited_ms = number_at(*verdicts, "waiting (ms)", row).value_or(0) *
                             number_at(*verdicts, "Group size", row).value_or(1);
    all_ms += waited_ms;
    if (!has_imbalance(*verdicts, row)) continue;
    waiting.has_imbalance = true;
    const auto rank = first_late_rank(*verdicts, row);
    if (!rank || rank->percent < kOften) continue;
    const double count = number_at(*verdicts, "count", row).value_or(0);
    Late& late = by_rank[rank->rank];
    late.waited_ms += waited_ms;
    late.collectives += count;
    late.last += count * rank->percent / 100;
  }
  const auto most = std::ranges::max_element(
      by_rank, {}, [](const auto& entry) { return entry.second.waited_ms; });
  if (most == by_rank.end() || !(all_ms > 0)) return waiting;
  const auto& [rank, late] = *most;
  const double share = 100 * late.waited_ms / all_ms;
  if (share >= kNotable)
    waiting.straggler = Waiting::Straggler{rank, 100 * late.last / late.collectives, share};
  return waiting;
}

std::string verdict_of(const Split& split, const std::optional<Waiting::Straggler>& late) {
  std::string text = verdict_on(split, "a GPU is idle", "a GPU");
  if (late)
    text += fmt::format(
        "; rank {} comes last to {:.0f}% of the collectives that hold {:.0f}% of the waiting",
        late->rank, late->percent_last, late->percent_waiting);
  return text + '.';
}

// What to do about communication when no rank stands out.
std::string advice_on_communication(const Waiting& waiting) {
  if (waiting.has_imbalance)
    return "Ranks wait for each other, now for one and now for another: balance their work; "
           "comm_verdict tells who is late to what.";
  return fmt::format("Send less or in larger messages, or let computing run meanwhile{}",
                     waiting.is_known ? ": no single rank is late." : ".");
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
  const Waiting waiting = waiting_of(report);
  const std::optional<Waiting::Straggler>& late = waiting.straggler;
  overview.bound = bound_of(split);
  overview.verdict = verdict_of(split, late);
  overview.split = split.parts();
  overview.costs_title = "exposed, by group";
  overview.costliest_title = "verdict";
  overview.costs = costs_of(report, split);
  if (late)
    overview.advice.push_back(fmt::format(
        "See what rank {} does while the others wait for it: compare its trace with another one's.",
        late->rank));
  else if (overview.bound == "communication")
    overview.advice.push_back(advice_on_communication(waiting));
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
