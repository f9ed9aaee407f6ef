#include "analysis/ranks/xla_bandwidth.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "analysis/kit/group_stats.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

struct Rates {
  double algorithm = 0, bus = 0;  // GiB/s
};

// The formulas of the header.
Rates rates_of(CollectiveKind kind, double sent_bytes, double n, std::int64_t ns) {
  double moved = sent_bytes, bus = 1;
  switch (kind) {
    case CollectiveKind::kAllGather:
      moved = 2 * sent_bytes * (n - 1);
      bus = (n - 1) / n;
      break;
    case CollectiveKind::kAllReduce:
      moved = 2 * sent_bytes;
      bus = 2 * (n - 1) / n;
      break;
    case CollectiveKind::kReduceScatter:
      moved = sent_bytes + sent_bytes / n;
      bus = (n - 1) / n;
      break;
    case CollectiveKind::kAllToAll:
      moved = 2 * sent_bytes * (n - 1) / n;
      bus = (n - 1) / n;
      break;
    case CollectiveKind::kPermute:
      moved = 2 * sent_bytes;
      break;
    default:
      break;
  }
  const double algorithm = moved / (1 << 30) / (static_cast<double>(ns) / 1e9);
  return {algorithm, algorithm * bus};
}

// All runs of an op in one group.
struct OpRuns {
  std::string op;
  std::uint32_t group = 0;  // Matching::groups
  const CollectiveMessage* message = nullptr;
  std::vector<std::int64_t> shortest_ns = {};
  std::vector<Rates> rates = {};  // as many, or none when the size is not known
  std::map<std::int64_t, std::int64_t> times_fastest = {}, times_slowest = {};  // by rank
  std::int64_t longest_ns = 0;
};

void add_run(const CollectiveRun& run, std::span<const CollectiveMember> members, OpRuns& to) {
  const auto duration = [&](const CollectiveMember& member) { return run.kernel(member).dur_ns; };
  const auto fastest = std::ranges::min_element(members, {}, duration);
  const auto slowest = std::ranges::max_element(members, {}, duration);
  const std::int64_t shortest = duration(*fastest);
  if (shortest <= 0) return;
  to.shortest_ns.push_back(shortest);
  to.longest_ns = std::max(to.longest_ns, duration(*slowest));
  ++to.times_fastest[run.rank(*fastest)];
  ++to.times_slowest[run.rank(*slowest)];
  const CollectiveMessage& message = *to.message;
  const auto mib = run.mib(message, kInElements);
  if (mib && message[kGroupSize].is_number())
    to.rates.push_back(
        rates_of(run.kind(message), *mib * (1 << 20), message[kGroupSize].as_real(), shortest));
}

// In order of appearance; without those that have no run of any length.
std::vector<OpRuns> runs_by_op(const CollectiveRun& run) {
  const Matching& matching = run.matching();
  std::vector<OpRuns> all;
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> index;
  for (const Collective& collective : matching.collectives) {
    const auto members = matching.members(collective);
    const RankTrace& first = run.ranks()[members.front().rank];
    const std::uint32_t op = run.kernel(members.front()).op;
    if (op >= first.ops.size()) continue;
    const auto [known, is_new] = index.try_emplace({first.ops[op], collective.group}, all.size());
    if (is_new)
      all.push_back({.op = first.ops[op],
                     .group = collective.group,
                     .message = &run.message(members.front())});
    add_run(run, members, all[known->second]);
  }
  std::erase_if(all, [](const OpRuns& runs) { return runs.shortest_ns.empty(); });
  return all;
}

std::int64_t most_often(const std::map<std::int64_t, std::int64_t>& times) {
  return std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; })->first;
}

GroupStats stats_of_rates(std::span<const Rates> rates, double Rates::*which) {
  std::vector<double> values;
  for (const Rates& rate : rates) values.push_back(rate.*which);
  return stats_of(values);
}

constexpr Stat kRateStats[] = {
    {"mean", &GroupStats::mean}, {"min", &GroupStats::min}, {"max", &GroupStats::max}};

}  // namespace

std::optional<Table> xla_collectives(const CollectiveRun& run) {
  struct Row {
    const OpRuns* runs;
    const CollectiveRun* run;
    GroupStats shortest, algorithm, bus;
  };
  ColumnSet<Row> columns{
      {{"op", Kind::kText, "", "module and HLO op"}, [](const Row& row) { return row.runs->op; }},
      {{"collective", Kind::kText, "", "operation"},
       [](const Row& row) { return CollectiveRun::cell((*row.runs->message)[kCollective]); }},
      {{"group", Kind::kText, "", "ranks that take part, by the replica groups of the HLO"},
       [](const Row& row) { return row.run->matching().groups[row.runs->group].id; }},
      {{"group size", Kind::kInteger, "", "how many they are"},
       [](const Row& row) { return CollectiveRun::cell((*row.runs->message)[kGroupSize]); }},
      {{"sent", Kind::kReal, "MiB", "what a rank sends"},
       [](const Row& row) { return row.run->mib(*row.runs->message, kInElements); }},
      {{"runs", Kind::kInteger, "", "how often the group ran the op"},
       [](const Row& row) { return row.shortest.count; }},
      {{"communication", Kind::kReal, "µs",
        "mean over the runs: the shortest kernel, whose rank waited for nobody"},
       [](const Row& row) { return row.shortest.mean; }},
      {{"longest kernel", Kind::kReal, "µs", "with waiting for the others"},
       [](const Row& row) { return us(row.runs->longest_ns); }},
      {{"fastest rank", Kind::kInteger, "id", "that most often had the shortest kernel"},
       [](const Row& row) { return most_often(row.runs->times_fastest); }},
      {{"slowest rank", Kind::kInteger, "id", "that most often had the longest kernel"},
       [](const Row& row) { return most_often(row.runs->times_slowest); }}};
  add_stat_columns(columns, &Row::algorithm, kRateStats, "algorithm bandwidth", "GiB/s",
                   " over the runs: what a rank reads and writes, over the time of communication");
  add_stat_columns(columns, &Row::bus, kRateStats, "bus bandwidth", "GiB/s",
                   " over the runs: what its links carry");
  const std::vector<OpRuns> all = runs_by_op(run);
  if (all.empty()) return std::nullopt;
  Table table = columns.make_table("xla_collectives",
                                   "Collectives of XLA by HLO op and replica group: size, time, "
                                   "bandwidth, fastest and slowest rank");
  for (const OpRuns& runs : all) {
    std::vector<std::int64_t> shortest = runs.shortest_ns;
    columns.append(table, Row{&runs, &run, stats_of_ns(shortest),
                              stats_of_rates(runs.rates, &Rates::algorithm),
                              stats_of_rates(runs.rates, &Rates::bus)});
  }
  return table;
}

std::optional<Table> xla_collectives_by_type(const CollectiveRun& run) {
  // By op: the k-th run of each of its groups, as a sum and a count.
  struct Slice {
    Rates sum;
    double groups = 0;
  };
  struct Op {
    std::vector<Slice> slices;
    std::optional<double> sent_mib;
  };
  std::map<std::string, std::map<std::string, Op>> types;
  for (const OpRuns& runs : runs_by_op(run)) {
    Op& op = types[(*runs.message)[kCollective].as_text()][runs.op];
    op.sent_mib = run.mib(*runs.message, kInElements);
    op.slices.resize(std::max(op.slices.size(), runs.rates.size()));
    for (std::size_t i = 0; i < runs.rates.size(); ++i) {
      op.slices[i].sum.algorithm += runs.rates[i].algorithm;
      op.slices[i].sum.bus += runs.rates[i].bus;
      ++op.slices[i].groups;
    }
  }
  struct Row {
    std::string type;
    std::int64_t ops = 0;
    GroupStats algorithm, bus, sent;
  };
  std::vector<Row> rows;
  for (const auto& [type, ops] : types) {
    std::vector<Rates> rates;
    std::vector<double> sent;
    for (const auto& [name, op] : ops) {
      for (const Slice& slice : op.slices)
        rates.push_back({slice.sum.algorithm / slice.groups, slice.sum.bus / slice.groups});
      if (op.sent_mib) sent.push_back(*op.sent_mib);
    }
    if (rates.empty()) continue;
    rows.push_back({type, std::ssize(ops), stats_of_rates(rates, &Rates::algorithm),
                    stats_of_rates(rates, &Rates::bus), stats_of(sent)});
  }
  if (rows.empty()) return std::nullopt;
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Row& row) { return row.algorithm.mean.value_or(0); });
  constexpr Stat kStats[] = {{"mean", &GroupStats::mean},
                             {"median", &GroupStats::median},
                             {"min", &GroupStats::min},
                             {"max", &GroupStats::max},
                             {"std", &GroupStats::population_std}};
  ColumnSet<Row> columns{
      {{"collective", Kind::kText, "", "operation"}, &Row::type},
      {{"ops", Kind::kInteger, "", "HLO ops of this kind"}, &Row::ops},
      {{"runs", Kind::kInteger, "", "how often they ran; groups that ran together are one run"},
       [](const Row& row) { return row.algorithm.count; }},
      {{"sent", Kind::kReal, "MiB", "what a rank sends, mean over the ops"},
       [](const Row& row) { return row.sent.mean; }}};
  add_stat_columns(columns, &Row::algorithm, kStats, "algorithm bandwidth", "GiB/s",
                   " over the runs, each the mean of its groups");
  add_stat_columns(columns, &Row::bus, kStats, "bus bandwidth", "GiB/s",
                   " over the runs, each the mean of its groups");
  Table table = columns.make_table(
      "xla_collectives_by_type", "Bandwidth of XLA's collectives by operation, the fastest first");
  for (Row& row : rows) columns.append(table, row);
  return table;
}

}  // namespace tracelens
