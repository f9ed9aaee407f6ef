// merged_traces.hpp: two call trees laid over each other, event by event, and the tables of where they
// part; compare.hpp has what a person reads of it.
//   const MergedTraces merged = merge_traces(trace1, tree1, trace2, tree2);
//   for (const MergedTraces::Node& node : merged.nodes)
//     if (!node.is_in_both()) ...
// They work on any trees of the traces: with Python frames, or of edited ones. In src/analysis/diff.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tracelens/edition.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <utility>
#include <vector>

namespace tracelens {

struct MergedTraces {
  struct Node {
    EventId first, second;  // invalid: only the other trace has it
    // The events that were found to belong together: the same, or the tops of chains of wrappers that
    // were looked through on the way to these.
    EventId met_first, met_second;
    std::uint32_t children_begin = 0, children_end = 0;  // in `children`
    [[nodiscard]] bool is_in_both() const { return first.valid() && second.valid(); }
  };
  std::vector<Node> nodes;              // a node's number is its place; callers before callees
  std::vector<std::uint32_t> children;  // numbers of nodes
  std::vector<std::uint32_t> roots;     // the same
  // By side (0 or 1): what was compared with what, by event. An invalid one: nothing.
  std::array<std::vector<std::pair<EventId, EventId>>, 2> others;

  // What an event of one side was compared with: no value: it was not; invalid: the other trace has
  // no such call.
  [[nodiscard]] std::optional<EventId> other(std::size_t side, EventId event) const;
  [[nodiscard]] std::span<const std::uint32_t> children_of(const Node& node) const {
    return std::span{children}.subspan(node.children_begin,
                                       node.children_end - node.children_begin);
  }
};

// Reference: the numbers, roots and pairs of the Python TraceLens. Throws Error when a tree has no
// ops: then there is nothing to align.
[[nodiscard]] MergedTraces merge_traces(const Trace& trace1, const Tree& tree1, const Trace& trace2,
                                        const Tree& tree2, Edition edition = Edition::kExtended);

struct MergedTables {
  MergedTraces merged;
  Table diff_stats;        // one row per GPU event where the traces part
  Table summary;           // the same by op and arguments: diff_stats_unique_args_summary
  bool identical = false;  // a trace with itself: the rows of one, without the column `source`
  std::string tree_text;
  std::string op_map_trace1, op_map_trace2, op_map;  // JSON
};
struct MergeOptions {
  Edition edition = Edition::kExtended;
  bool prune_idle_roots = false;  // leave roots without GPU work out of the text
};
[[nodiscard]] MergedTables merge_with_tables(const Trace& trace1, const Tree& tree1,
                                             const Trace& trace2, const Tree& tree2,
                                             const MergeOptions& options = {});

}  // namespace tracelens
