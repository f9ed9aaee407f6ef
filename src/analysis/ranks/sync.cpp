#include "analysis/ranks/sync.hpp"

#include <algorithm>

#include "analysis/ranks/rank_columns.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
using enum CollectiveField;

const CollectiveMessage& message_of(const CollectiveRun& run, const SyncCollective& row) {
  return run.message(run.matching().members(run.matching().collectives[row.collective]).front());
}

SyncCollective measure(const CollectiveRun& run, std::uint32_t collective, CollectiveKind kind) {
  const auto members = run.matching().members(run.matching().collectives[collective]);
  SyncCollective row{.collective = collective};
  std::int64_t first_start = 0, first_end = 0, last_end = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const CollectiveKernel& kernel = run.kernel(members[i]);
    const std::int64_t start = kernel.ts_ns, end = end_of(kernel.ts_ns, kernel.dur_ns);
    if (i == 0 || kernel.dur_ns < row.latency_ns) row.latency_ns = kernel.dur_ns;
    if (i == 0 || start <= first_start) {
      first_start = start;
      row.earliest_rank = run.rank(members[i]);
    }
    if (i == 0 || start > row.last_start_ns) {
      row.last_start_ns = start;
      row.latest_rank = run.rank(members[i]);
    }
    first_end = i == 0 ? end : std::min(first_end, end);
    last_end = i == 0 ? end : std::max(last_end, end);
  }
  for (const CollectiveMember& member : members)
    row.wait_sum_ns =
        plus_ns(row.wait_sum_ns, minus_ns(row.last_start_ns, run.kernel(member).ts_ns));
  row.start_skew_ns = minus_ns(row.last_start_ns, first_start);
  row.end_skew_ns = minus_ns(last_end, first_end);

  const CollectiveMessage& message = run.message(members.front());
  if (kind == CollectiveKind::kUnknown) return row;
  row.full_mib = run.mib(message, kind == CollectiveKind::kAllGather ? kOutElements : kInElements);
  if (!row.full_mib || row.latency_ns <= 0) return row;
  row.algo_gibps = *row.full_mib / 1024 / (static_cast<double>(row.latency_ns) / 1e9);
  if (message[kGroupSize].is_number())
    row.bus_gibps = *row.algo_gibps * bus_factor(kind, message[kGroupSize].as_real());
  return row;
}

std::vector<SyncCollective> sync_collectives(const CollectiveRun& run) {
  std::vector<SyncCollective> rows;
  const Matching& matching = run.matching();
  for (std::uint32_t i = 0; i < matching.collectives.size(); ++i) {
    const auto members = matching.members(matching.collectives[i]);
    const CollectiveKind kind = run.kind(run.message(members.front()));
    const bool may_synchronize =
        is_synchronizing(kind) || (matching.is_simplified && kind != CollectiveKind::kAllToAllV);
    if (may_synchronize) rows.push_back(measure(run, i, kind));
  }
  return rows;
}

Table nccl_implicit_sync(const CollectiveRun& run, std::span<const SyncCollective> rows) {
  const Matching& matching = run.matching();
  std::vector<ColumnSpec> columns;
  RankColumns per_rank;
  if (!rows.empty()) {
    columns.push_back({"collective_id", Kind::kText, "id", "kernels of one collective share it"});
    for (const auto field :
         {kGroupName, kGroupRanks, kCollective, kGroupSize, kDtype, kInElements, kOutElements})
      columns.push_back(run.column(field));
    columns.insert(
        columns.end(),
        {{"In msg size (MB)", Kind::kReal, "MiB", "size of what each rank sends"},
         {"Out msg size (MB)", Kind::kReal, "MiB", "size of what each rank receives"},
         {"Full msg size (MB)", Kind::kReal, "MiB", "size of the message as a whole"},
         {"comm_latency", Kind::kReal, "µs",
          "true communication: the kernel of the rank that waited for nobody"},
         {"skew in start time", Kind::kReal, "µs", "from the first rank's start to the last's"},
         {"earliest arrival rank", Kind::kInteger, "id", "rank that waited longest"},
         {"avg_wait_time", Kind::kReal, "µs", "mean time the ranks waited for the last"},
         {"skew in end time", Kind::kReal, "µs", "from the first rank's end to the last's"},
         {"algo bw (GB/s)", Kind::kReal, "GiB/s", "message size over comm_latency"},
         {"bus bw (GB/s)", Kind::kReal, "GiB/s", "what each link carries"}});
    per_rank.declare({{"ts", Kind::kReal, "µs", "start"}, {"dur", Kind::kReal, "µs", "duration"}},
                     {{"wait_time", Kind::kReal, "µs", "time it waited for the last rank"}});
    for (const SyncCollective& row : rows)
      per_rank.see(run, matching.members(matching.collectives[row.collective]));
    per_rank.add_columns(columns);
    run.add_node_columns(columns, false, true);
  }
  Table table{"nccl_implicit_sync", "Collectives in which all ranks wait for the last", columns};
  RowCells cells;
  for (const SyncCollective& row : rows) {
    const Collective& collective = matching.collectives[row.collective];
    const auto members = matching.members(collective);
    const CollectiveMessage& message = message_of(run, row);
    cells.clear();
    cells.add(matching.id(collective));
    for (const auto field :
         {kGroupName, kGroupRanks, kCollective, kGroupSize, kDtype, kInElements, kOutElements})
      cells.add(run.cell(message, field));
    cells.add(run.mib(message, kInElements));
    cells.add(run.mib(message, kOutElements));
    cells.add(row.full_mib);
    cells.add(us(row.latency_ns));
    cells.add(us(row.start_skew_ns));
    cells.add(row.earliest_rank);
    cells.add(us(row.wait_sum_ns) / static_cast<double>(members.size()));
    cells.add(us(row.end_skew_ns));
    cells.add(row.algo_gibps);
    cells.add(row.bus_gibps);
    per_rank.clear_row();
    for (const CollectiveMember& member : members) {
      const CollectiveKernel& kernel = run.kernel(member);
      per_rank.set(run.rank(member), {us(kernel.ts_ns), us(kernel.dur_ns),
                                      us(minus_ns(row.last_start_ns, kernel.ts_ns))});
    }
    per_rank.add_cells(cells);
    run.add_node_span(cells, members.front());
    table.append(cells.cells());
  }
  return table;
}

}  // namespace tracelens
