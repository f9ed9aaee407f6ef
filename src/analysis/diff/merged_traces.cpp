// merged_traces.cpp: the merged tree by events, for users of the library.
#include <algorithm>
#include <tracelens/merged_traces.hpp>

#include "analysis/diff/merge.hpp"
#include "analysis/diff/stats.hpp"
#include "analysis/diff/summary.hpp"
#include "analysis/diff/text.hpp"

namespace tracelens {
namespace {

EventId event_of(const Tree& tree, NodeId node) {
  return node.valid() ? tree.event(node) : EventId{};
}

// What was compared last counts.
void sort_others(std::vector<std::pair<EventId, EventId>>& others) {
  std::ranges::stable_sort(others, {}, &std::pair<EventId, EventId>::first);
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  const auto kept = std::unique(others.rbegin(), others.rend(), same);
  others.erase(others.begin(), kept.base());
}

}  // namespace

std::optional<EventId> MergedTraces::other(std::size_t side, EventId event) const {
  const auto& list = others[side];
  const auto found = std::ranges::lower_bound(list, event, {}, &std::pair<EventId, EventId>::first);
  if (found == list.end() || found->first != event) return std::nullopt;
  return found->second;
}

MergedTraces events_of(const MergedTree& merged, const Tree& tree1, const Tree& tree2) {
  MergedTraces traces;
  traces.nodes.reserve(merged.size());
  for (std::uint32_t id = 0; id < merged.size(); ++id) {
    const MergedNode& node = merged.node(id);
    MergedTraces::Node& shown = traces.nodes.emplace_back();
    shown.first = event_of(tree1, node.first);
    shown.second = event_of(tree2, node.second);
    shown.met_first = event_of(tree1, node.met_first);
    shown.met_second = event_of(tree2, node.met_second);
    if (shown.met_first.valid()) traces.others[0].emplace_back(shown.met_first, shown.met_second);
    if (shown.met_second.valid()) traces.others[1].emplace_back(shown.met_second, shown.met_first);
    const auto children = merged.children(id);
    shown.children_begin = static_cast<std::uint32_t>(traces.children.size());
    traces.children.insert(traces.children.end(), children.begin(), children.end());
    shown.children_end = static_cast<std::uint32_t>(traces.children.size());
  }
  traces.roots.assign(merged.roots().begin(), merged.roots().end());
  for (auto& others : traces.others) sort_others(others);
  return traces;
}

MergedTraces merge_traces(const Trace& trace1, const Tree& tree1, const Trace& trace2,
                          const Tree& tree2, Edition edition) {
  return events_of(merge_trees(trace1, tree1, trace2, tree2, edition), tree1, tree2);
}

MergedTables merge_with_tables(const Trace& trace1, const Tree& tree1, const Trace& trace2,
                               const Tree& tree2, const MergeOptions& options) {
  const MergedTree merged = merge_trees(trace1, tree1, trace2, tree2, options.edition);
  const DiffInput input{trace1, tree1, trace2, tree2, merged};
  const DiffStats stats = collect_diff_stats(input, options.edition);
  Table rows = diff_stats_table(input, stats);
  DiffSummary summary =
      summarize_diff(rows, {.identical = stats.is_identical, .edition = options.edition});
  return {.merged = events_of(merged, tree1, tree2),
          .diff_stats = std::move(rows),
          .summary = std::move(summary.table),
          .identical = stats.is_identical,
          .tree_text = merged_tree_text(input, {.prune_idle_roots = options.prune_idle_roots}),
          .op_map_trace1 = std::move(summary.op_map_trace1),
          .op_map_trace2 = std::move(summary.op_map_trace2),
          .op_map = std::move(summary.op_map)};
}

}  // namespace tracelens
