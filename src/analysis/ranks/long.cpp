#include "analysis/ranks/long.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/kit/group_stats.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

const ColumnSpec kRank{"rank", Kind::kInteger, "id", "rank the kernel ran on"};
const ColumnSpec kInSize{"In msg size (MB)", Kind::kReal, "MiB", "size of what each rank sends"};
const ColumnSpec kOutSize{"Out msg size (MB)", Kind::kReal, "MiB",
                          "size of what each rank receives"};

ColumnSpec with_suffix(ColumnSpec column, const char* suffix) {
  column.name += suffix;
  return column;
}

bool is_complete(const CollectiveMessage& message) {
  return std::ranges::none_of(message.fields, &Value::is_null) && !message.stream.is_null();
}

bool comes_before(const CollectiveMessage& a, const CollectiveMessage& b) {
  for (std::size_t i = 0; i < a.fields.size(); ++i)
    if (const int order = compare_keys(a.fields[i], b.fields[i]); order != 0) return order < 0;
  return compare_keys(a.stream, b.stream) < 0;
}

// The kernels of one rank with one message.
struct Group {
  CollectiveMember first;
  std::int64_t sum_ns = 0;
  std::vector<std::int64_t> durations = {};
};

std::vector<Group> group_kernels(const CollectiveRun& run, bool keep_incomplete,
                                 std::size_t& left_out) {
  std::vector<Group> groups;
  for (std::uint32_t rank = 0; rank < run.ranks().size(); ++rank) {
    const RankTrace& trace = run.ranks()[rank];
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::vector<std::size_t> by_message(trace.messages.size(), kNone);
    for (std::uint32_t i = 0; i < trace.kernels.size(); ++i) {
      const CollectiveKernel& kernel = trace.kernels[i];
      if (!keep_incomplete && !is_complete(trace.message(kernel))) {
        ++left_out;
        continue;
      }
      std::size_t& group = by_message[kernel.message];
      if (group == kNone) {
        group = groups.size();
        groups.push_back({{rank, i}});
      }
      groups[group].sum_ns = plus_ns(groups[group].sum_ns, kernel.dur_ns);
      groups[group].durations.push_back(kernel.dur_ns);
    }
  }
  std::ranges::stable_sort(groups, [&](const Group& a, const Group& b) {
    if (a.sum_ns != b.sum_ns) return a.sum_ns > b.sum_ns;
    if (a.first.rank != b.first.rank) return a.first.rank < b.first.rank;
    return comes_before(run.message(a.first), run.message(b.first));
  });
  return groups;
}

}  // namespace

Table nccl_long(const CollectiveRun& run) {
  using enum CollectiveField;
  std::vector<ColumnSpec> columns{
      {"collective_id", Kind::kText, "id", "kernels of one collective share it"},
      {"index_in_group", Kind::kInteger, "", "position in its process group"},
      kRank};
  for (const auto field : {kGroupName, kGroupRanks, kCollective, kGroupSize, kDtype, kInElements})
    columns.push_back(run.column(field));
  columns.insert(columns.end(),
                 {kInSize,
                  run.column(kOutElements),
                  kOutSize,
                  run.column(kInSplit),
                  run.column(kOutSplit),
                  run.stream_column(),
                  {"ts", run.time_kind(), "µs", "start, by the rank's clock"},
                  {"dur", run.time_kind(), "µs", "duration, waiting for other ranks included"}});
  run.add_node_columns(columns, true, true);
  Table table{"nccl_long", "Every communication kernel of every rank", columns};
  const Matching& matching = run.matching();
  RowCells cells;
  for (std::uint32_t rank = 0; rank < run.ranks().size(); ++rank) {
    const RankTrace& trace = run.ranks()[rank];
    for (std::uint32_t i = 0; i < trace.kernels.size(); ++i) {
      const CollectiveKernel& kernel = trace.kernels[i];
      const CollectiveMessage& message = trace.message(kernel);
      const Collective& collective = matching.collectives[matching.collective_of[rank][i]];
      cells.clear();
      cells.add(matching.id(collective));
      cells.add(std::int64_t{collective.index});
      cells.add(trace.rank);
      for (const auto field :
           {kGroupName, kGroupRanks, kCollective, kGroupSize, kDtype, kInElements})
        cells.add(run.cell(message, field));
      cells.add(run.mib(message, kInElements));
      cells.add(run.cell(message, kOutElements));
      cells.add(run.mib(message, kOutElements));
      cells.add(run.cell(message, kInSplit));
      cells.add(run.cell(message, kOutSplit));
      cells.add(CollectiveRun::cell(message.stream));
      cells.add(run.time_cell(kernel.ts_ns));
      cells.add(run.time_cell(kernel.dur_ns));
      run.add_node_id(cells, trace.rank);
      run.add_node_span(cells, {rank, i});
      table.append(cells.cells());
    }
  }
  return table;
}

Table nccl_summary_long(const CollectiveRun& run, const LongSummaryOptions& options,
                        std::size_t* left_out) {
  std::size_t skipped = 0;
  std::vector<Group> groups = group_kernels(run, options.keep_incomplete, skipped);
  if (left_out != nullptr) *left_out = skipped;

  std::vector<ColumnSpec> columns{kRank};
  for (std::size_t i = 0; i < kCollectiveFieldCount; ++i)
    columns.push_back(run.column(static_cast<CollectiveField>(i)));
  columns.insert(columns.end(),
                 {run.stream_column(),
                  with_suffix(kInSize, "_first"),
                  with_suffix(kOutSize, "_first"),
                  {"dur_sum", run.time_kind(), "µs", "time of all kernels of the group"},
                  {"dur_mean", Kind::kReal, "µs", "mean"},
                  {"dur_std", Kind::kReal, "µs", "standard deviation"},
                  {"dur_min", run.time_kind(), "µs", "shortest"},
                  {"dur_max", run.time_kind(), "µs", "longest"},
                  {"operation_count", Kind::kInteger, "", "kernels in the group"}});
  if (!groups.empty()) run.add_node_columns(columns, true, true);
  Table table{options.name, "Communication kernels per rank by group, operation and message size",
              columns};
  RowCells cells;
  for (Group& group : groups) {
    const CollectiveMessage& message = run.message(group.first);
    const auto [shortest, longest] = std::ranges::minmax(group.durations);
    const GroupStats stats = stats_of_ns(group.durations);
    cells.clear();
    cells.add(run.rank(group.first));
    for (std::size_t i = 0; i < kCollectiveFieldCount; ++i)
      cells.add(run.cell(message, static_cast<CollectiveField>(i)));
    cells.add(CollectiveRun::cell(message.stream));
    cells.add(run.mib(message, CollectiveField::kInElements));
    cells.add(run.mib(message, CollectiveField::kOutElements));
    cells.add(run.time_cell(group.sum_ns));
    cells.add(stats.mean);
    cells.add(stats.std);
    cells.add(run.time_cell(shortest));
    cells.add(run.time_cell(longest));
    cells.add(stats.count);
    run.add_node_id(cells, run.rank(group.first));
    run.add_node_span(cells, group.first);
    table.append(cells.cells());
  }
  return table;
}

}  // namespace tracelens
