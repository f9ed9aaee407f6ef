// merge.hpp: two call trees laid over each other: what both have, and where they part.
//   const MergedTree merged = merge_trees(trace1, tree1, trace2, tree2);
//   for (std::uint32_t root : merged.roots()) ...
// Top down: the children of two matched nodes are aligned by name and, where there are as many on
// both sides and none of them launches, by position; wrappers that only one side has are looked
// through. Only children with GPU work below take part. Iterative, and linear in the size of the
// trees unless a node has thousands of unlike children.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tracelens/edition.hpp>
#include <tracelens/merged_traces.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

struct MergedNode {
  NodeId first, second;  // invalid: the other side only
  std::uint32_t parent = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t gap = 0;  // one-sided siblings with equal numbers stand between the same neighbours
  NodeId met_first = {},
         met_second = {};  // as they were paired, before wrappers were looked through
  [[nodiscard]] bool is_combined() const { return first.valid() && second.valid(); }
};

class MergedTree {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const MergedNode& node(std::uint32_t id) const { return nodes_[id]; }
  [[nodiscard]] std::span<const std::uint32_t> children(std::uint32_t id) const {
    return std::span{children_}.subspan(begins_[id], ends_[id] - begins_[id]);
  }
  [[nodiscard]] std::span<const std::uint32_t> roots() const { return roots_; }

  // The merged node that stands for a node of one side (0 or 1); kNone when it was looked through
  // or never reached.
  [[nodiscard]] std::uint32_t merged(std::size_t side, NodeId node) const {
    return merged_[side][node.row];
  }
  // The node of the other side; invalid inside the optional: it has none; no value: not compared.
  [[nodiscard]] std::optional<NodeId> counterpart(std::size_t side, NodeId node) const;

 private:
  friend class TreeMerger;
  std::vector<MergedNode> nodes_;  // by merged id: in order of the first visit, depth first
  std::vector<std::uint32_t> children_, begins_, ends_;
  std::vector<std::uint32_t> roots_;
  std::array<std::vector<std::uint32_t>, 2> merged_;  // by node
};

// Reference: the merged ids of the Python TraceLens, its roots, its pairs by position. Extended: roots
// aligned thread by thread, each tree once, names before positions. Throws Error when a tree has no
// ops: then there is nothing to align.
[[nodiscard]] MergedTree merge_trees(const Trace& trace1, const Tree& tree1, const Trace& trace2,
                                     const Tree& tree2, Edition edition = Edition::kReference);

// The same by events, for users of the library.
[[nodiscard]] MergedTraces events_of(const MergedTree& merged, const Tree& tree1,
                                     const Tree& tree2);

}  // namespace tracelens
