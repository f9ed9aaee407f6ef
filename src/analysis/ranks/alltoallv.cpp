#include "analysis/ranks/alltoallv.hpp"

#include <algorithm>

#include "analysis/ranks/rank_columns.hpp"
#include "analysis/ranks/run_columns.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

std::optional<double> gib_per_s(std::optional<double> mib, std::int64_t ns) {
  if (!mib || ns <= 0) return std::nullopt;
  return *mib / 1024 / (static_cast<double>(ns) / 1e9);
}

// None as soon as one part is not known.
void add_up(std::optional<double>& sum, std::optional<double> part) {
  sum = sum && part ? std::optional{*sum + *part} : std::nullopt;
}

UnevenExchange measure_exchange(const CollectiveRun& run, std::uint32_t collective) {
  const auto members = run.matching().members(run.matching().collectives[collective]);
  UnevenExchange row{.collective = collective, .total_mib = 0, .elements = 0};
  std::optional<double> largest;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const CollectiveKernel& kernel = run.kernel(members[i]);
    const CollectiveMessage& message = run.message(members[i]);
    const std::int64_t start = kernel.ts_ns, end = end_of(kernel.ts_ns, kernel.dur_ns);
    const auto lower = [i](std::int64_t& kept, std::int64_t value) {
      kept = i == 0 ? value : std::min(kept, value);
    };
    const auto raise = [i](std::int64_t& kept, std::int64_t value) {
      kept = i == 0 ? value : std::max(kept, value);
    };
    lower(row.first_start_ns, start);
    raise(row.last_start_ns, start);
    lower(row.first_end_ns, end);
    raise(row.last_end_ns, end);
    lower(row.shortest_ns, kernel.dur_ns);
    raise(row.longest_ns, kernel.dur_ns);
    row.dur_sum_ns = plus_ns(row.dur_sum_ns, kernel.dur_ns);

    const std::optional<double> mib = run.mib(message, kInElements);
    add_up(row.total_mib, mib);
    const Value& elements = message[kInElements];
    add_up(row.elements, elements.is_number() ? std::optional{elements.as_real()} : std::nullopt);
    if (mib) largest = std::max(largest.value_or(*mib), *mib);
    if (const auto rate = mib && *mib > 0 ? gib_per_s(mib, kernel.dur_ns) : std::nullopt) {
      row.fastest_gibps = std::max(row.fastest_gibps.value_or(*rate), *rate);
      row.slowest_gibps = std::min(row.slowest_gibps.value_or(*rate), *rate);
    }
  }
  row.gibps = gib_per_s(row.total_mib, row.wall_ns());
  if (row.total_mib && *row.total_mib > 0)
    row.imbalance = *largest / (*row.total_mib / static_cast<double>(members.size()));
  return row;
}

}  // namespace

std::vector<UnevenExchange> uneven_exchanges(const CollectiveRun& run) {
  std::vector<UnevenExchange> rows;
  const Matching& matching = run.matching();
  for (std::uint32_t i = 0; i < matching.collectives.size(); ++i) {
    const auto first = matching.members(matching.collectives[i]).front();
    if (run.kind(run.message(first)) == CollectiveKind::kAllToAllV)
      rows.push_back(measure_exchange(run, i));
  }
  std::ranges::stable_sort(rows, [](const UnevenExchange& a, const UnevenExchange& b) {
    if (!a.total_mib || !b.total_mib) return a.total_mib.has_value() && !b.total_mib;
    return *a.total_mib > *b.total_mib;
  });
  return rows;
}

std::optional<Table> nccl_all2allv(const CollectiveRun& run, std::span<const UnevenExchange> rows) {
  if (rows.empty()) return std::nullopt;
  struct Row {
    std::string id;
    const CollectiveMessage* message;
    CollectiveMember member;
    const UnevenExchange* exchange;
    double mean_dur_us;
  };
  ColumnSet<Row> columns{
      {{"collective_id", Kind::kText, "id", "kernels of one collective share it"}, &Row::id}};
  add_field_columns(columns, run, {kGroupName, kGroupRanks, kCollective, kGroupSize, kDtype});
  add_stream_column(columns, run);
  columns.add(
      {{{"total data communicated (MB)", Kind::kReal, "MiB",
         "what all ranks send, to themselves too"},
        [](const Row& row) { return row.exchange->total_mib; }},
       {{"total nelems communicated", Kind::kReal, "", "the same in elements"},
        [](const Row& row) { return row.exchange->elements; }},
       {{"wall_time (us)", Kind::kReal, "µs", "from the first start to the last end"},
        [](const Row& row) { return us(row.exchange->wall_ns()); }},
       {{"max_rank_dur (us)", Kind::kReal, "µs", "longest kernel"},
        [](const Row& row) { return us(row.exchange->longest_ns); }},
       {{"min_rank_dur (us)", Kind::kReal, "µs", "shortest kernel"},
        [](const Row& row) { return us(row.exchange->shortest_ns); }},
       {{"avg_rank_dur (us)", Kind::kReal, "µs", "mean of the kernels"}, &Row::mean_dur_us},
       {{"throughput (GB/s)", Kind::kReal, "GiB/s", "all data over the wall time"},
        [](const Row& row) { return row.exchange->gibps; }},
       {{"max_rank_throughput (GB/s)", Kind::kReal, "GiB/s", "of the fastest rank"},
        [](const Row& row) { return row.exchange->fastest_gibps; }},
       {{"min_rank_throughput (GB/s)", Kind::kReal, "GiB/s", "of the slowest rank"},
        [](const Row& row) { return row.exchange->slowest_gibps; }},
       {{"size_imbalance", Kind::kReal, "", "largest amount a rank sends over the mean"},
        [](const Row& row) { return row.exchange->imbalance; }},
       {{"skew in start time", Kind::kReal, "µs", "from the first rank's start to the last's"},
        [](const Row& row) { return us(row.exchange->start_skew_ns()); }},
       {{"skew in end time", Kind::kReal, "µs", "from the first rank's end to the last's"},
        [](const Row& row) { return us(row.exchange->end_skew_ns()); }}});

  struct RankRow {
    const CollectiveKernel* kernel;
    const CollectiveMessage* message;
    std::int64_t start_skew_ns, end_skew_ns;
  };
  const auto field_column = [&](CollectiveField field) {
    return ColumnRow<RankRow>{run.column(field), [field](const RankRow& row) {
                                return CollectiveRun::cell((*row.message)[field]);
                              }};
  };
  RankColumns<RankRow> per_rank{
      {{{"ts", Kind::kReal, "µs", "start"},
        [](const RankRow& row) { return us(row.kernel->ts_ns); }},
       {{"dur", Kind::kReal, "µs", "duration"},
        [](const RankRow& row) { return us(row.kernel->dur_ns); }},
       field_column(kInElements),
       field_column(kOutElements),
       {{"In msg size (MB)", Kind::kReal, "MiB", "size sent"},
        [&run](const RankRow& row) { return run.mib(*row.message, kInElements); }},
       {{"Out msg size (MB)", Kind::kReal, "MiB", "size received"},
        [&run](const RankRow& row) { return run.mib(*row.message, kOutElements); }},
       field_column(kInSplit),
       field_column(kOutSplit)},
      {{{"skew in start time", Kind::kReal, "µs", "how long after the first it started"},
        [](const RankRow& row) { return us(row.start_skew_ns); }},
       {{"skew in end time", Kind::kReal, "µs", "how long before the last it ended"},
        [](const RankRow& row) { return us(row.end_skew_ns); }}}};
  // Columns in the order in which the run first needs them, not in that of the sorted rows.
  const Matching& matching = run.matching();
  std::vector<std::uint32_t> in_run_order;
  for (const UnevenExchange& row : rows) in_run_order.push_back(row.collective);
  std::ranges::sort(in_run_order);
  const bool has_ranks = !has_sparse_ranks(run, rows);
  for (const std::uint32_t collective : in_run_order)
    if (has_ranks) per_rank.see(run, matching.members(matching.collectives[collective]));
  per_rank.add_to(columns);
  add_node_span_column(columns, run);

  Table table = columns.make_table("nccl_all2allv", "All-to-all exchanges of uneven sizes");
  for (const UnevenExchange& row : rows) {
    const Collective& collective = matching.collectives[row.collective];
    const auto members = matching.members(collective);
    per_rank.clear_row();
    for (const CollectiveMember& member : has_ranks ? members : members.first(0)) {
      const CollectiveKernel& kernel = run.kernel(member);
      per_rank.set(run.rank(member),
                   {&kernel, &run.message(member), minus_ns(kernel.ts_ns, row.first_start_ns),
                    minus_ns(row.last_end_ns, end_of(kernel.ts_ns, kernel.dur_ns))});
    }
    columns.append(
        table, Row{matching.id(collective), &run.message(members.front()), members.front(), &row,
                   us(row.dur_sum_ns) / static_cast<double>(members.size())});
  }
  return table;
}

}  // namespace tracelens
