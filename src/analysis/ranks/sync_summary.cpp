// The summaries of synchronizing collectives: by operation and size, and by rank.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "analysis/ranks/sync.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

const Value kUnknownKey = "Unknown";

constexpr double real(std::int64_t ns) { return static_cast<double>(ns); }

// The rows of one operation, type and size.
struct SyncGroup {
  std::array<const Value*, 3> key;
  std::vector<const SyncCollective*> rows;
  std::int64_t latency_sum_ns = 0;
};

std::vector<SyncGroup> group_rows(const CollectiveRun& run, std::span<const SyncCollective> rows) {
  const auto comes_before = [](const std::array<const Value*, 3>& a,
                               const std::array<const Value*, 3>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (const int order = compare_keys(*a[i], *b[i]); order != 0) return order < 0;
    return false;
  };
  std::map<std::array<const Value*, 3>, SyncGroup, decltype(comes_before)> groups{comes_before};
  for (const SyncCollective& row : rows) {
    const CollectiveMessage& message = message_of(run, row);
    std::array<const Value*, 3> key{&message[kCollective], &message[kDtype], &message[kInElements]};
    for (const Value*& part : key)
      if (part->is_null()) part = &kUnknownKey;
    SyncGroup& group = groups.try_emplace(key, SyncGroup{key, {}, 0}).first->second;
    group.rows.push_back(&row);
    group.latency_sum_ns = plus_ns(group.latency_sum_ns, row.latency_ns);
  }
  std::vector<SyncGroup> sorted;
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &SyncGroup::latency_sum_ns);
  return sorted;
}

struct Metric {
  const char* name;
  const char* unit;
  double scale;  // units of the values per printed unit
  std::optional<double> (*of)(const SyncCollective& row);
};
constexpr Metric kMetrics[] = {
    {"comm_latency", "µs", 1e3,
     [](const SyncCollective& row) { return std::optional{real(row.latency_ns)}; }},
    {"skew in start time", "µs", 1e3,
     [](const SyncCollective& row) { return std::optional{real(row.start_skew_ns)}; }},
    {"skew in end time", "µs", 1e3,
     [](const SyncCollective& row) { return std::optional{real(row.end_skew_ns)}; }},
    {"algo bw (GB/s)", "GiB/s", 1, [](const SyncCollective& row) { return row.algo_gibps; }},
    {"bus bw (GB/s)", "GiB/s", 1, [](const SyncCollective& row) { return row.bus_gibps; }},
};

// The first row of the group that has the field.
Cell first_present(const CollectiveRun& run, const SyncGroup& group, CollectiveField field) {
  for (const SyncCollective* row : group.rows)
    if (const CollectiveMessage& message = message_of(run, *row); !message[field].is_null())
      return run.cell(message, field);
  return Missing{};
}

double round_to_tenth(double value) { return std::nearbyint(value * 10) / 10; }

}  // namespace

Table nccl_summary_implicit_sync(const CollectiveRun& run, std::span<const SyncCollective> rows,
                                 std::span<const Aggregate> aggregates) {
  constexpr const char* kName = "nccl_summary_implicit_sync";
  constexpr const char* kDescription =
      "Synchronizing collectives by operation, type and size: true cost, skew and bandwidth";
  if (rows.empty()) return Table{kName, kDescription, {}};
  std::vector<const Metric*> metrics;
  for (const Metric& metric : kMetrics)
    if (std::ranges::any_of(rows, [&](const auto& row) { return metric.of(row).has_value(); }))
      metrics.push_back(&metric);

  std::vector<ColumnSpec> columns{run.column(kCollective), run.column(kDtype),
                                  run.column(kInElements), run.column(kGroupName),
                                  run.column(kGroupSize)};
  // A missing key reads "Unknown", whatever the column holds otherwise.
  for (std::size_t i = 0; i < 3; ++i)
    if (columns[i].kind != Kind::kText) columns[i].kind = Kind::kNested;
  columns.push_back({"Full msg size (MB)", Kind::kReal, "MiB", "size of the message as a whole"});
  for (const Metric* metric : metrics)
    for (const Aggregate& how : aggregates)
      columns.push_back({std::string{metric->name} + "_" + how.name, Kind::kReal, metric->unit,
                         how.name + " of " + metric->name});
  columns.push_back({"count", Kind::kInteger, "", "collectives"});
  columns.push_back({"Total comm latency (ms)", Kind::kReal, "ms", "their true cost in all"});
  Table table{kName, kDescription, columns};
  RowCells cells;
  std::vector<std::optional<double>> values;
  for (const SyncGroup& group : group_rows(run, rows)) {
    cells.clear();
    for (const Value* part : group.key) cells.add(CollectiveRun::cell(*part));
    cells.add(first_present(run, group, kGroupName));
    cells.add(first_present(run, group, kGroupSize));
    const auto sized = std::ranges::find_if(
        group.rows, [](const SyncCollective* row) { return row->full_mib.has_value(); });
    cells.add(sized == group.rows.end() ? std::nullopt : (*sized)->full_mib);
    for (const Metric* metric : metrics) {
      values.clear();
      for (const SyncCollective* row : group.rows) values.push_back(metric->of(*row));
      for (const Aggregate& how : aggregates) cells.add(aggregate(how, values, metric->scale));
    }
    cells.add(std::ssize(group.rows));
    cells.add(static_cast<double>(group.latency_sum_ns) / 1e6);
    table.append(cells.cells());
  }
  return table;
}

std::optional<Table> straggler_summary(const CollectiveRun& run,
                                       std::span<const SyncCollective> rows) {
  if (rows.empty()) return std::nullopt;
  struct Straggler {
    std::int64_t wait_ns = 0, collectives = 0, last = 0, first = 0, comm_ns = 0;
  };
  std::map<std::int64_t, Straggler> ranks;
  const Matching& matching = run.matching();
  for (const SyncCollective& row : rows) {
    for (const CollectiveMember& member : matching.members(matching.collectives[row.collective])) {
      Straggler& rank = ranks[run.rank(member)];
      rank.wait_ns = plus_ns(rank.wait_ns, minus_ns(row.last_start_ns, run.kernel(member).ts_ns));
      ++rank.collectives;
    }
    ++ranks[row.latest_rank].last;
    ++ranks[row.earliest_rank].first;
  }
  for (const RankTrace& trace : run.ranks())
    if (const auto rank = ranks.find(trace.rank); rank != ranks.end())
      for (const CollectiveKernel& kernel : trace.kernels)
        rank->second.comm_ns = plus_ns(rank->second.comm_ns, kernel.dur_ns);

  std::vector<ColumnSpec> columns{
      {"rank", Kind::kInteger, "id", "rank"},
      {"total_wait_time_us", Kind::kReal, "µs", "time it waited for others in all"},
      {"mean_wait_time_us", Kind::kReal, "µs", "per collective it took part in"},
      {"times_arrived_last", Kind::kInteger, "", "collectives in which all waited for it"},
      {"times_arrived_first", Kind::kInteger, "", "collectives in which it waited longest"},
      {"pct_arrived_last", Kind::kReal, "%", "share of all collectives, its own or not"},
      {"num_collectives", Kind::kInteger, "", "collectives of all ranks"},
      {"total_nccl_dur_us", Kind::kReal, "µs", "time of all its communication kernels"}};
  run.add_node_columns(columns, true, false);
  Table table{"straggler_summary", "Who the others wait for: the worst straggler waits least",
              columns};
  const auto total = static_cast<double>(rows.size());
  RowCells cells;
  for (const auto& [number, rank] : ranks) {
    cells.clear();
    cells.add(number);
    cells.add(round_to_tenth(us(rank.wait_ns)));
    cells.add(round_to_tenth(us(rank.wait_ns) / static_cast<double>(rank.collectives)));
    cells.add(rank.last);
    cells.add(rank.first);
    cells.add(round_to_tenth(100 * static_cast<double>(rank.last) / total));
    cells.add(std::ssize(rows));
    cells.add(round_to_tenth(us(rank.comm_ns)));
    run.add_node_id(cells, number);
    table.append(cells.cells());
  }
  table.sort_by("total_wait_time_us");
  return table;
}

}  // namespace tracelens
