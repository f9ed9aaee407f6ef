#include "analysis/ranks/long.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/kit/group_rows.hpp"
#include "analysis/ranks/run_columns.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

const ColumnSpec kRank{"rank", Kind::kInteger, "id", "rank the kernel ran on"};

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
  CollectiveMember member;  // the first
  std::int64_t rank = 0;
  const CollectiveMessage* message = nullptr;
  std::int64_t sum_ns = 0, shortest_ns = 0, longest_ns = 0;
  std::vector<std::int64_t> durations = {};
  GroupStats stats = {};
};

std::vector<Group> group_kernels(const CollectiveRun& run, bool keep_incomplete,
                                 std::size_t& left_out) {
  Grouped<Group> grouped;
  for (std::uint32_t rank = 0; rank < run.ranks().size(); ++rank) {
    const RankTrace& trace = run.ranks()[rank];
    for (std::uint32_t i = 0; i < trace.kernels.size(); ++i) {
      const CollectiveKernel& kernel = trace.kernels[i];
      const CollectiveMessage& message = trace.message(kernel);
      if (!keep_incomplete && !is_complete(message)) {
        ++left_out;
        continue;
      }
      Group& group = grouped.at({rank, kernel.message}, [&] {
        return Group{.member = {rank, i}, .rank = trace.rank, .message = &message};
      });
      group.sum_ns = plus_ns(group.sum_ns, kernel.dur_ns);
      group.durations.push_back(kernel.dur_ns);
    }
  }
  std::vector<Group> groups = std::move(grouped).take();
  std::ranges::stable_sort(groups, [&](const Group& a, const Group& b) {
    if (a.sum_ns != b.sum_ns) return a.sum_ns > b.sum_ns;
    if (a.member.rank != b.member.rank) return a.member.rank < b.member.rank;
    return comes_before(*a.message, *b.message);
  });
  for (Group& group : groups) {
    const auto [shortest, longest] = std::ranges::minmax(group.durations);
    group.shortest_ns = shortest;
    group.longest_ns = longest;
    group.stats = stats_of_ns(group.durations);
  }
  return groups;
}

// What kernels are counted in: a group by its name, or the whole rank where no group has one.
std::string group_text(const CollectiveRun& run, const CollectiveMessage& message) {
  const Value& name = message[kGroupName];
  if (run.matching().is_simplified) return {};
  return name.is_text() ? name.as_text() : python_repr(name);
}

// The place of each kernel of a rank among those of its group, by time.
std::vector<std::int64_t> positions_by_time(const CollectiveRun& run, const RankTrace& rank) {
  std::vector<std::uint32_t> order(rank.kernels.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return rank.kernels[i].ts_ns; });
  std::unordered_map<std::string, std::int64_t> counts;
  std::vector<std::int64_t> positions(order.size());
  for (const std::uint32_t i : order)
    positions[i] = counts[group_text(run, rank.message(rank.kernels[i]))]++;
  return positions;
}

std::string id_of(const CollectiveRun& run, const CollectiveMessage& message,
                  std::int64_t position) {
  if (run.matching().is_simplified) return std::to_string(position);
  return group_text(run, message) + '_' + std::to_string(position);
}

}  // namespace

Table nccl_long(const CollectiveRun& run, const LongOptions& options) {
  struct Row {
    std::string id;
    std::int64_t index, rank;
    const CollectiveMessage* message;
    CollectiveMember member;
    std::int64_t ts_ns, dur_ns;
  };
  ColumnSet<Row> columns{
      {{"collective_id", Kind::kText, "id", "kernels of one collective share it"}, &Row::id},
      {{"index_in_group", Kind::kInteger, "", "position in its process group"}, &Row::index},
      {kRank, &Row::rank}};
  add_field_columns(columns, run,
                    {kGroupName, kGroupRanks, kCollective, kGroupSize, kDtype, kInElements});
  add_size_column(columns, run, kInElements);
  add_field_columns(columns, run, {kOutElements});
  add_size_column(columns, run, kOutElements);
  add_field_columns(columns, run, {kInSplit, kOutSplit});
  add_stream_column(columns, run);
  add_time_column(columns, run, "ts", "start, by the rank's clock", &Row::ts_ns);
  add_time_column(columns, run, "dur", "duration, waiting for other ranks included", &Row::dur_ns);
  if (options.nodes) {
    add_node_id_column(columns, run);
    add_node_span_column(columns, run);
  }
  columns.add({{{"ts_ns", Kind::kInteger, "ns", "start, by the rank's clock"},
                &Row::ts_ns,
                options.nanoseconds},
               {{"dur_ns", Kind::kInteger, "ns", "duration"}, &Row::dur_ns, options.nanoseconds}});
  Table table = columns.make_table("nccl_long", "Every communication kernel of every rank");
  const Matching& matching = run.matching();
  for (std::uint32_t rank = 0; rank < run.ranks().size(); ++rank) {
    const RankTrace& trace = run.ranks()[rank];
    const std::vector<std::int64_t> positions =
        options.ids_by_position ? positions_by_time(run, trace) : std::vector<std::int64_t>{};
    for (std::uint32_t i = 0; i < trace.kernels.size(); ++i) {
      const CollectiveKernel& kernel = trace.kernels[i];
      const Collective& collective = matching.collectives[matching.collective_of[rank][i]];
      const bool by_position = options.ids_by_position;
      columns.append(table, Row{by_position ? id_of(run, trace.message(kernel), positions[i])
                                            : matching.id(collective),
                                by_position ? positions[i] : collective.index,
                                trace.rank,
                                &trace.message(kernel),
                                {rank, i},
                                kernel.ts_ns,
                                kernel.dur_ns});
    }
  }
  return table;
}

Table nccl_summary_long(const CollectiveRun& run, const LongSummaryOptions& options,
                        std::size_t* left_out) {
  std::size_t skipped = 0;
  std::vector<Group> groups = group_kernels(run, options.keep_incomplete, skipped);
  if (left_out != nullptr) *left_out = skipped;

  ColumnSet<Group> columns{{kRank, &Group::rank}};
  add_field_columns(columns, run,
                    {kGroupName, kGroupRanks, kCollective, kGroupSize, kDtype, kInElements,
                     kOutElements, kInSplit, kOutSplit});
  add_stream_column(columns, run);
  add_size_column(columns, run, kInElements, "_first");
  add_size_column(columns, run, kOutElements, "_first");
  add_time_column(columns, run, "dur_sum", "time of all kernels of the group", &Group::sum_ns);
  columns.add({{{"dur_mean", Kind::kReal, "µs", "mean"},
                [](const Group& group) { return group.stats.mean; }},
               {{"dur_std", Kind::kReal, "µs", "standard deviation"},
                [](const Group& group) { return group.stats.std; }}});
  add_time_column(columns, run, "dur_min", "shortest", &Group::shortest_ns);
  add_time_column(columns, run, "dur_max", "longest", &Group::longest_ns);
  columns.add({"operation_count", Kind::kInteger, "", "kernels in the group"},
              [](const Group& group) { return group.stats.count; });
  if (!groups.empty()) {
    add_node_id_column(columns, run);
    add_node_span_column(columns, run);
  }
  Table table = columns.make_table(
      options.name, "Communication kernels per rank by group, operation and message size");
  for (Group& group : groups) columns.append(table, group);
  return table;
}

}  // namespace tracelens
