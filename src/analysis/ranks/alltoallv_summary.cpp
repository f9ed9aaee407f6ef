// Uneven all-to-all exchanges summed up: by process group and type, and by pair of ranks.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/ranks/alltoallv.hpp"
#include "analysis/ranks/rank_lists.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

constexpr std::size_t kMostHeatmapRanks = 1024;

using Values = std::vector<std::optional<double>>;

struct ExchangeGroup {
  CollectiveMember first;
  std::vector<const UnevenExchange*> rows = {};
  std::int64_t wall_sum_ns = 0;
};

std::int64_t wall_ns(const UnevenExchange& row) {
  return minus_ns(row.last_end_ns, row.first_start_ns);
}

std::vector<ExchangeGroup> group_exchanges(const CollectiveRun& run,
                                           std::span<const UnevenExchange> rows) {
  const Matching& matching = run.matching();
  const auto comes_before = [&](const CollectiveMember& a, const CollectiveMember& b) {
    const CollectiveMessage &x = run.message(a), &y = run.message(b);
    const int order = compare_keys(x[kGroupName], y[kGroupName]);
    return order != 0 ? order < 0 : compare_keys(x[kDtype], y[kDtype]) < 0;
  };
  std::map<CollectiveMember, ExchangeGroup, decltype(comes_before)> groups{comes_before};
  for (const UnevenExchange& row : rows) {
    const CollectiveMember first = matching.members(matching.collectives[row.collective]).front();
    if (run.message(first)[kDtype].is_null()) continue;  // rows without a key have no group
    ExchangeGroup& group = groups.try_emplace(first, ExchangeGroup{first}).first->second;
    group.rows.push_back(&row);
    group.wall_sum_ns = plus_ns(group.wall_sum_ns, wall_ns(row));
  }
  std::vector<ExchangeGroup> sorted;
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &ExchangeGroup::wall_sum_ns);
  return sorted;
}

template <class Of>
Values values_of(const ExchangeGroup& group, Of&& of) {
  Values values;
  for (const UnevenExchange* row : group.rows) values.push_back(of(*row));
  return values;
}

std::optional<double> real(std::int64_t ns) { return static_cast<double>(ns); }

// What one rank sent to another.
struct Sent {
  double bytes = 0;
  std::int64_t count = 0;
};
using SentByPair = std::map<std::pair<std::int64_t, std::int64_t>, Sent>;

// Adds what a kernel sent; a reason when its arguments do not tell.
std::string_view add_sent(const CollectiveRun& run, const CollectiveMember& member,
                          SentByPair& pairs) {
  const CollectiveMessage& message = run.message(member);
  const auto splits = split_sizes(message[kInSplit]);
  const auto bytes = dtype_bytes(message[kDtype], run.edition());
  const Value& size = message[kGroupSize];
  if (!splits) return "whose split sizes cannot be read";
  if (size.is_number() && size.as_real() != static_cast<double>(splits->size()))
    return "whose split sizes are not as many as its group has ranks";
  if (!bytes) return "of a type without a known size";
  const std::uint32_t number = run.matching().collective_of[member.rank][member.kernel];
  const auto& members = run.matching().groups[run.matching().collectives[number].group].members;
  // The reference edition takes the position in the group for the rank, as existing sheets do.
  const bool has_ranks = run.edition() == Edition::kExtended && members.size() == splits->size();
  for (std::size_t i = 0; i < splits->size(); ++i) {
    const std::int64_t to = has_ranks ? members[i] : static_cast<std::int64_t>(i);
    Sent& sent = pairs[{run.rank(member), to}];
    sent.bytes += static_cast<double>((*splits)[i]) * *bytes;
    ++sent.count;
  }
  return {};
}

}  // namespace

std::optional<Table> nccl_summary_all2allv(const CollectiveRun& run,
                                           std::span<const UnevenExchange> rows,
                                           std::span<const Aggregate> aggregates) {
  const std::vector<ExchangeGroup> groups = group_exchanges(run, rows);
  if (groups.empty()) return std::nullopt;
  std::vector<ColumnSpec> columns{run.column(kGroupName), run.column(kDtype)};
  const auto add_metric = [&](const std::string& name, const char* unit,
                              std::span<const Aggregate> how) {
    for (const Aggregate& each : how)
      columns.push_back({name + "_" + each.name, Kind::kReal, unit, each.name + " of " + name});
  };
  const std::vector<Aggregate> mean_max = parse_aggregates(std::vector<std::string>{"mean", "max"});
  add_metric("total data communicated (MB)", "MiB", aggregates);
  add_metric("wall_time (us)", "µs", aggregates);
  columns.push_back({"Total wall_time (us)", Kind::kReal, "µs", "sum of the wall times"});
  add_metric("throughput (GB/s)", "GiB/s", aggregates);
  add_metric("size_imbalance", "", mean_max);
  add_metric("max_rank_dur (us)", "µs", mean_max);
  add_metric("skew in start time", "µs", mean_max);
  add_metric("skew in end time", "µs", mean_max);
  columns.push_back({"count", Kind::kInteger, "", "exchanges"});
  for (const auto field : {kGroupRanks, kCollective, kGroupSize})
    columns.push_back(run.column(field));
  columns.push_back({"Total wall_time (ms)", Kind::kReal, "ms", "sum of the wall times"});
  run.add_node_columns(columns, false, true);

  Table table{"nccl_summary_all2allv", "Uneven all-to-all exchanges by process group and type",
              columns};
  RowCells cells;
  for (const ExchangeGroup& group : groups) {
    const CollectiveMessage& message = run.message(group.first);
    const auto add = [&](std::span<const Aggregate> how, double unit, auto&& of) {
      const Values values = values_of(group, of);
      for (const Aggregate& each : how) cells.add(aggregate(each, values, unit));
    };
    cells.clear();
    cells.add(run.cell(message, kGroupName));
    cells.add(run.cell(message, kDtype));
    add(aggregates, 1, [](const UnevenExchange& row) { return row.total_mib; });
    add(aggregates, 1e3, [](const UnevenExchange& row) { return real(wall_ns(row)); });
    cells.add(us(group.wall_sum_ns));
    add(aggregates, 1, [](const UnevenExchange& row) { return row.gibps; });
    add(mean_max, 1, [](const UnevenExchange& row) { return row.imbalance; });
    add(mean_max, 1e3, [](const UnevenExchange& row) { return real(row.longest_ns); });
    add(mean_max, 1e3, [](const UnevenExchange& row) {
      return real(minus_ns(row.last_start_ns, row.first_start_ns));
    });
    add(mean_max, 1e3, [](const UnevenExchange& row) {
      return real(minus_ns(row.last_end_ns, row.first_end_ns));
    });
    cells.add(std::ssize(group.rows));
    for (const auto field : {kGroupRanks, kCollective, kGroupSize})
      cells.add(run.cell(message, field));
    cells.add(static_cast<double>(group.wall_sum_ns) / 1e6);
    run.add_node_span(cells, group.first);
    table.append(cells.cells());
  }
  return table;
}

std::optional<Table> nccl_all2allv_heatmap(const CollectiveRun& run,
                                           std::vector<std::string>& warnings) {
  if (run.ranks().size() > kMostHeatmapRanks) {
    warnings.push_back(
        fmt::format("no table of who sends how much to whom: {} ranks are more than {}",
                    run.ranks().size(), kMostHeatmapRanks));
    return std::nullopt;
  }
  SentByPair pairs;
  std::map<std::string_view, std::size_t> left_out;
  for (std::uint32_t rank = 0; rank < run.ranks().size(); ++rank)
    for (std::uint32_t i = 0; i < run.ranks()[rank].kernels.size(); ++i)
      if (run.kind(run.message({rank, i})) == CollectiveKind::kAllToAllV)
        if (const std::string_view reason = add_sent(run, {rank, i}, pairs); !reason.empty())
          ++left_out[reason];
  for (const auto& [reason, count] : left_out)
    warnings.push_back(
        fmt::format("nccl_all2allv_heatmap is without {} kernels {}", count, reason));
  if (pairs.empty()) return std::nullopt;
  const ColumnSpec columns[] = {
      {"src_rank", Kind::kInteger, "id", "rank that sends"},
      {"dst_rank", Kind::kInteger, "id", "rank that receives"},
      {"total_sent_MB", Kind::kReal, "MiB", "sent in all"},
      {"avg_sent_MB", Kind::kReal, "MiB", "per exchange"},
      {"count", Kind::kInteger, "", "exchanges"},
  };
  Table table{"nccl_all2allv_heatmap", "Who sends how much to whom in uneven all-to-all exchanges",
              columns};
  for (const auto& [ends, sent] : pairs) {
    const double mib = sent.bytes / (1024.0 * 1024.0);
    table.add_row(ends.first, ends.second, mib, mib / static_cast<double>(sent.count), sent.count);
  }
  return table;
}

}  // namespace tracelens
