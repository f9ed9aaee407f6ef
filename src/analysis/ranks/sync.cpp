#include "analysis/ranks/sync.hpp"

#include <algorithm>

#include "analysis/ranks/rank_columns.hpp"
#include "analysis/ranks/run_columns.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
using enum CollectiveField;

namespace {

// What all ranks together bring or get. Of a gather every rank but one has no output.
std::optional<double> full_mib(const CollectiveRun& run, const CollectiveMessage& message,
                               CollectiveKind kind) {
  if (kind == CollectiveKind::kAllGather) return run.mib(message, kOutElements);
  const auto mib = run.mib(message, kInElements);
  if (kind != CollectiveKind::kGather) return mib;
  if (!mib || !message[kGroupSize].is_number()) return std::nullopt;
  return *mib * message[kGroupSize].as_real();
}

}  // namespace

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
  row.full_mib = full_mib(run, message, kind);
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
  constexpr const char* kName = "nccl_implicit_sync";
  constexpr const char* kDescription = "Collectives in which all ranks wait for the last";
  if (rows.empty()) return Table{kName, kDescription, {}};
  struct Row {
    std::string id;
    const CollectiveMessage* message;
    CollectiveMember member;
    const SyncCollective* sync;
    double mean_wait_us;
  };
  ColumnSet<Row> columns{
      {{"collective_id", Kind::kText, "id", "kernels of one collective share it"}, &Row::id}};
  add_field_columns(
      columns, run,
      {kGroupName, kGroupRanks, kCollective, kGroupSize, kDtype, kInElements, kOutElements});
  add_size_column(columns, run, kInElements);
  add_size_column(columns, run, kOutElements);
  columns.add(
      {{{"Full msg size (MB)", Kind::kReal, "MiB", "size of the message as a whole"},
        [](const Row& row) { return row.sync->full_mib; }},
       {{"comm_latency", Kind::kReal, "µs",
         "true communication: the kernel of the rank that waited for nobody"},
        [](const Row& row) { return us(row.sync->latency_ns); }},
       {{"skew in start time", Kind::kReal, "µs", "from the first rank's start to the last's"},
        [](const Row& row) { return us(row.sync->start_skew_ns); }},
       {{"earliest arrival rank", Kind::kInteger, "id", "rank that waited longest"},
        [](const Row& row) { return row.sync->earliest_rank; }},
       {{"avg_wait_time", Kind::kReal, "µs", "mean time the ranks waited for the last"},
        &Row::mean_wait_us},
       {{"skew in end time", Kind::kReal, "µs", "from the first rank's end to the last's"},
        [](const Row& row) { return us(row.sync->end_skew_ns); }},
       {{"algo bw (GB/s)", Kind::kReal, "GiB/s", "message size over comm_latency"},
        [](const Row& row) { return row.sync->algo_gibps; }},
       {{"bus bw (GB/s)", Kind::kReal, "GiB/s", "what each link carries"},
        [](const Row& row) { return row.sync->bus_gibps; }}});

  struct RankRow {
    std::int64_t ts_ns, dur_ns, wait_ns;
  };
  RankColumns<RankRow> per_rank{
      {{{"ts", Kind::kReal, "µs", "start"}, [](const RankRow& row) { return us(row.ts_ns); }},
       {{"dur", Kind::kReal, "µs", "duration"}, [](const RankRow& row) { return us(row.dur_ns); }}},
      {{{"wait_time", Kind::kReal, "µs", "time it waited for the last rank"},
        [](const RankRow& row) { return us(row.wait_ns); }}}};
  const Matching& matching = run.matching();
  const bool has_ranks = !has_sparse_ranks(run, rows);
  for (const SyncCollective& row : rows)
    if (has_ranks) per_rank.see(run, matching.members(matching.collectives[row.collective]));
  per_rank.add_to(columns);
  add_node_span_column(columns, run);

  Table table = columns.make_table(kName, kDescription);
  for (const SyncCollective& row : rows) {
    const Collective& collective = matching.collectives[row.collective];
    const auto members = matching.members(collective);
    per_rank.clear_row();
    for (const CollectiveMember& member : has_ranks ? members : members.first(0)) {
      const CollectiveKernel& kernel = run.kernel(member);
      per_rank.set(run.rank(member),
                   {kernel.ts_ns, kernel.dur_ns, minus_ns(row.last_start_ns, kernel.ts_ns)});
    }
    columns.append(table, Row{matching.id(collective), &message_of(run, row), members.front(), &row,
                              us(row.wait_sum_ns) / static_cast<double>(members.size())});
  }
  return table;
}

}  // namespace tracelens
