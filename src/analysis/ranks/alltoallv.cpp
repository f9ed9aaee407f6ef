#include "analysis/ranks/alltoallv.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analysis/ranks/rank_columns.hpp"
#include "analysis/ranks/rank_lists.hpp"
#include "tree/time_math.hpp"

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
  row.gibps = gib_per_s(row.total_mib, minus_ns(row.last_end_ns, row.first_start_ns));
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
  const Matching& matching = run.matching();
  std::vector<ColumnSpec> columns{
      {"collective_id", Kind::kText, "id", "kernels of one collective share it"}};
  for (const auto field : {kGroupName, kGroupRanks, kCollective, kGroupSize, kDtype})
    columns.push_back(run.column(field));
  columns.insert(
      columns.end(),
      {run.stream_column(),
       {"total data communicated (MB)", Kind::kReal, "MiB",
        "what all ranks send, to themselves too"},
       {"total nelems communicated", Kind::kReal, "", "the same in elements"},
       {"wall_time (us)", Kind::kReal, "µs", "from the first start to the last end"},
       {"max_rank_dur (us)", Kind::kReal, "µs", "longest kernel"},
       {"min_rank_dur (us)", Kind::kReal, "µs", "shortest kernel"},
       {"avg_rank_dur (us)", Kind::kReal, "µs", "mean of the kernels"},
       {"throughput (GB/s)", Kind::kReal, "GiB/s", "all data over the wall time"},
       {"max_rank_throughput (GB/s)", Kind::kReal, "GiB/s", "of the fastest rank"},
       {"min_rank_throughput (GB/s)", Kind::kReal, "GiB/s", "of the slowest rank"},
       {"size_imbalance", Kind::kReal, "", "largest amount a rank sends over the mean"},
       {"skew in start time", Kind::kReal, "µs", "from the first rank's start to the last's"},
       {"skew in end time", Kind::kReal, "µs", "from the first rank's end to the last's"}});
  RankColumns per_rank;
  per_rank.declare(
      {{"ts", Kind::kReal, "µs", "start"},
       {"dur", Kind::kReal, "µs", "duration"},
       run.column(kInElements),
       run.column(kOutElements),
       {"In msg size (MB)", Kind::kReal, "MiB", "size sent"},
       {"Out msg size (MB)", Kind::kReal, "MiB", "size received"},
       run.column(kInSplit),
       run.column(kOutSplit)},
      {{"skew in start time", Kind::kReal, "µs", "how long after the first it started"},
       {"skew in end time", Kind::kReal, "µs", "how long before the last it ended"}});
  // Columns in the order in which the run first needs them, not in that of the sorted rows.
  std::vector<std::uint32_t> in_run_order;
  for (const UnevenExchange& row : rows) in_run_order.push_back(row.collective);
  std::ranges::sort(in_run_order);
  for (const std::uint32_t collective : in_run_order)
    per_rank.see(run, matching.members(matching.collectives[collective]));
  per_rank.add_columns(columns);
  run.add_node_columns(columns, false, true);

  Table table{"nccl_all2allv", "All-to-all exchanges of uneven sizes", columns};
  RowCells cells;
  for (const UnevenExchange& row : rows) {
    const Collective& collective = matching.collectives[row.collective];
    const auto members = matching.members(collective);
    const CollectiveMessage& message = run.message(members.front());
    cells.clear();
    cells.add(matching.id(collective));
    for (const auto field : {kGroupName, kGroupRanks, kCollective, kGroupSize, kDtype})
      cells.add(run.cell(message, field));
    cells.add(CollectiveRun::cell(message.stream));
    cells.add(row.total_mib);
    cells.add(row.elements);
    cells.add(us(minus_ns(row.last_end_ns, row.first_start_ns)));
    cells.add(us(row.longest_ns));
    cells.add(us(row.shortest_ns));
    cells.add(us(row.dur_sum_ns) / static_cast<double>(members.size()));
    cells.add(row.gibps);
    cells.add(row.fastest_gibps);
    cells.add(row.slowest_gibps);
    cells.add(row.imbalance);
    cells.add(us(minus_ns(row.last_start_ns, row.first_start_ns)));
    cells.add(us(minus_ns(row.last_end_ns, row.first_end_ns)));
    per_rank.clear_row();
    for (const CollectiveMember& member : members) {
      const CollectiveKernel& kernel = run.kernel(member);
      const CollectiveMessage& own = run.message(member);
      const auto mib = [&](CollectiveField field) -> Cell {
        const auto size = run.mib(own, field);
        return size ? Cell{*size} : Cell{Missing{}};
      };
      per_rank.set(run.rank(member),
                   {us(kernel.ts_ns), us(kernel.dur_ns), run.cell(own, kInElements),
                    run.cell(own, kOutElements), mib(kInElements), mib(kOutElements),
                    run.cell(own, kInSplit), run.cell(own, kOutSplit),
                    us(minus_ns(kernel.ts_ns, row.first_start_ns)),
                    us(minus_ns(row.last_end_ns, end_of(kernel.ts_ns, kernel.dur_ns)))});
    }
    per_rank.add_cells(cells);
    run.add_node_span(cells, members.front());
    table.append(cells.cells());
  }
  return table;
}

}  // namespace tracelens
