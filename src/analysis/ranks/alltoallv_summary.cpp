// Uneven all-to-all exchanges summed up: by process group and type, and by pair of ranks.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "analysis/ranks/alltoallv.hpp"
#include "analysis/ranks/rank_lists.hpp"
#include "analysis/ranks/run_columns.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

constexpr std::size_t kMostHeatmapRanks = 1024;

using ExchangeGroup = CostGroup<UnevenExchange>;

CollectiveMember first_of(const CollectiveRun& run, const UnevenExchange& row) {
  return run.matching().members(run.matching().collectives[row.collective]).front();
}
const CollectiveMessage& message_of(const CollectiveRun& run, const UnevenExchange& row) {
  return run.message(first_of(run, row));
}

// Exchanges without a type have no group.
std::vector<UnevenExchange> with_type(const CollectiveRun& run,
                                      std::span<const UnevenExchange> rows) {
  std::vector<UnevenExchange> typed;
  std::ranges::copy_if(rows, std::back_inserter(typed), [&](const UnevenExchange& row) {
    return !message_of(run, row)[kDtype].is_null();
  });
  return typed;
}

std::optional<double> real(std::int64_t ns) { return static_cast<double>(ns); }

using Exchange = Metric<UnevenExchange>;
constexpr Exchange kAmount{"total data communicated (MB)", "MiB", 1,
                           [](const UnevenExchange& row) { return row.total_mib; }};
constexpr Exchange kWallTime{"wall_time (us)", "µs", 1e3,
                             [](const UnevenExchange& row) { return real(row.wall_ns()); }};
constexpr Exchange kThroughput{"throughput (GB/s)", "GiB/s", 1,
                               [](const UnevenExchange& row) { return row.gibps; }};
constexpr Exchange kMeanAndMax[] = {
    {"size_imbalance", "", 1, [](const UnevenExchange& row) { return row.imbalance; }},
    {"max_rank_dur (us)", "µs", 1e3,
     [](const UnevenExchange& row) { return real(row.longest_ns); }},
    {"skew in start time", "µs", 1e3,
     [](const UnevenExchange& row) { return real(row.start_skew_ns()); }},
    {"skew in end time", "µs", 1e3,
     [](const UnevenExchange& row) { return real(row.end_skew_ns()); }}};

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
  const std::vector<UnevenExchange> typed = with_type(run, rows);
  if (typed.empty()) return std::nullopt;
  struct Row {
    const ExchangeGroup* group;
    CollectiveMember member;
    const CollectiveMessage* message;
  };
  const std::vector<Aggregate> mean_and_max =
      parse_aggregates(std::vector<std::string>{"mean", "max"});
  ColumnSet<Row> columns;
  add_field_columns(columns, run, {kGroupName, kDtype});
  add_metric_columns(columns, kAmount, aggregates);
  add_metric_columns(columns, kWallTime, aggregates);
  columns.add({"Total wall_time (us)", Kind::kReal, "µs", "sum of the wall times"},
              [](const Row& row) { return us(row.group->sum_ns); });
  add_metric_columns(columns, kThroughput, aggregates);
  for (const Exchange& metric : kMeanAndMax) add_metric_columns(columns, metric, mean_and_max);
  columns.add({"count", Kind::kInteger, "", "exchanges"},
              [](const Row& row) { return std::ssize(row.group->items); });
  add_field_columns(columns, run, {kGroupRanks, kCollective, kGroupSize});
  columns.add({"Total wall_time (ms)", Kind::kReal, "ms", "sum of the wall times"},
              [](const Row& row) { return ms(row.group->sum_ns); });
  add_node_span_column(columns, run);

  Table table = columns.make_table("nccl_summary_all2allv",
                                   "Uneven all-to-all exchanges by process group and type");
  const auto comes_before = [&](const UnevenExchange& a, const UnevenExchange& b) {
    const CollectiveMessage &x = message_of(run, a), &y = message_of(run, b);
    const int order = compare_keys(x[kGroupName], y[kGroupName]);
    return order != 0 ? order < 0 : compare_keys(x[kDtype], y[kDtype]) < 0;
  };
  for (const ExchangeGroup& group :
       cost_groups(std::span{typed}, comes_before, &UnevenExchange::wall_ns)) {
    const CollectiveMember first = first_of(run, *group.items.front());
    columns.append(table, Row{&group, first, &run.message(first)});
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
