// The summaries of synchronizing collectives: by operation and size, and by rank.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/ranks/run_columns.hpp"
#include "analysis/ranks/sync.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

const Value kUnknownKey = "Unknown";

constexpr double real(std::int64_t ns) { return static_cast<double>(ns); }

// What collectives are grouped by; a field that is not there counts as "Unknown".
const Value& key_of(const CollectiveRun& run, const SyncCollective& row, CollectiveField field) {
  const Value& value = message_of(run, row)[field];
  return value.is_null() ? kUnknownKey : value;
}

bool comes_before(const CollectiveRun& run, const SyncCollective& a, const SyncCollective& b) {
  for (const CollectiveField field : {kCollective, kDtype, kInElements})
    if (const int order = compare_keys(key_of(run, a, field), key_of(run, b, field)); order != 0)
      return order < 0;
  return false;
}

using SyncGroup = CostGroup<SyncCollective>;
constexpr Metric<SyncCollective> kMetrics[] = {
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
  for (const SyncCollective* row : group.items)
    if (const Value& value = message_of(run, *row)[field]; !value.is_null())
      return CollectiveRun::cell(value);
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
  struct Row {
    const SyncGroup* group;
  };
  ColumnSet<Row> columns;
  for (const CollectiveField field : {kCollective, kDtype, kInElements}) {
    ColumnSpec spec = run.column(field);
    // A missing key reads "Unknown", whatever the column holds otherwise.
    if (spec.kind != Kind::kText) spec.kind = Kind::kNested;
    columns.add(spec, [&run, field](const Row& row) {
      return CollectiveRun::cell(key_of(run, *row.group->items.front(), field));
    });
  }
  for (const CollectiveField field : {kGroupName, kGroupSize})
    columns.add(run.column(field),
                [&run, field](const Row& row) { return first_present(run, *row.group, field); });
  columns.add({"Full msg size (MB)", Kind::kReal, "MiB", "size of the message as a whole"},
              [](const Row& row) {
                const auto& items = row.group->items;
                const auto sized = std::ranges::find_if(
                    items, [](const SyncCollective* item) { return item->full_mib.has_value(); });
                return sized == items.end() ? std::nullopt : (*sized)->full_mib;
              });
  for (const Metric<SyncCollective>& metric : kMetrics)
    if (std::ranges::any_of(rows, [&](const auto& row) { return metric.of(row).has_value(); }))
      add_metric_columns(columns, metric, aggregates);
  columns.add({{{"count", Kind::kInteger, "", "collectives"},
                [](const Row& row) { return std::ssize(row.group->items); }},
               {{"Total comm latency (ms)", Kind::kReal, "ms", "their true cost in all"},
                [](const Row& row) { return ms(row.group->sum_ns); }}});
  Table table = columns.make_table(kName, kDescription);
  for (const SyncGroup& group : cost_groups(
           rows,
           [&](const SyncCollective&a, const SyncCollective&b) { return comes_before(run, a, b); },
           [](const SyncCollective&row) { return row.latency_ns; }))
    columns.append(table, Row{&group});
  return table;
}

std::optional<Table> straggler_summary(const CollectiveRun& run,
                                       std::span<const SyncCollective> rows) {
  if (rows.empty()) return std::nullopt;
  struct Straggler {
    std::int64_t rank = 0, wait_ns = 0, collectives = 0, last = 0, first = 0, comm_ns = 0;
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

  ColumnSet<Straggler> columns{
      {{"rank", Kind::kInteger, "id", "rank"}, &Straggler::rank},
      {{"total_wait_time_us", Kind::kReal, "µs", "time it waited for others in all"},
       [](const Straggler& rank) { return round_to_tenth(us(rank.wait_ns)); }},
      {{"mean_wait_time_us", Kind::kReal, "µs", "per collective it took part in"},
       [](const Straggler& rank) {
         return round_to_tenth(us(rank.wait_ns) / real(rank.collectives));
       }},
      {{"times_arrived_last", Kind::kInteger, "", "collectives in which all waited for it"},
       &Straggler::last},
      {{"times_arrived_first", Kind::kInteger, "", "collectives in which it waited longest"},
       &Straggler::first},
      {{"pct_arrived_last", Kind::kReal, "%", "share of all collectives, its own or not"},
       [&rows](const Straggler& rank) {
         return round_to_tenth(100 * real(rank.last) / static_cast<double>(rows.size()));
       }},
      {{"num_collectives", Kind::kInteger, "", "collectives of all ranks"},
       [&rows](const Straggler&) { return std::ssize(rows); }},
      {{"total_nccl_dur_us", Kind::kReal, "µs", "time of all its communication kernels"},
       [](const Straggler& rank) { return round_to_tenth(us(rank.comm_ns)); }}};
  add_node_id_column(columns, run);
  Table table = columns.make_table("straggler_summary",
                                   "Who the others wait for: the worst straggler waits least");
  for (auto& [number, rank] : ranks) {
    rank.rank = number;
    columns.append(table, rank);
  }
  table.sort_by("total_wait_time_us");
  return table;
}

}  // namespace tracelens
