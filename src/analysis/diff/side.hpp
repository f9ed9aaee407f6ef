// side.hpp: one of the two call trees that are compared, with what the comparison asks of it.
//   DiffNames names;
//   DiffSide before{trace1, tree1, names}, after{trace2, tree2, names};
//   for (NodeId child : before.gpu_children(node)) ...
// The chain of wrappers at the top of a tree can be cut out (trim_to); the Tree itself stays as it
// is. Trace, Tree and names must outlive the side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/diff/names.hpp"

namespace tracelens {

class DiffSide {
 public:
  DiffSide(const Trace& trace, const Tree& tree, DiffNames& names);

  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] const Tree& tree() const { return tree_; }
  [[nodiscard]] Category category(NodeId node) const { return trace_.category(tree_.event(node)); }
  [[nodiscard]] std::int64_t ts_ns(NodeId node) const;
  // As traced; the position in the trace when there is none.
  [[nodiscard]] std::string title(NodeId node) const;

  // Whether GPU work hangs below the node, or it is GPU work.
  [[nodiscard]] bool is_gpu_path(NodeId node) const { return tree_.gpu_count(node) > 0; }
  // A runtime call that launches; a graph launch is a wrapper like any op.
  [[nodiscard]] bool is_dispatch(NodeId node) const;
  // A launch, or GPU work itself: that of an HLO op hangs below the op without a call between.
  [[nodiscard]] bool is_work(NodeId node) const {
    return is_dispatch(node) || is_gpu(category(node));
  }

  [[nodiscard]] std::uint32_t name(NodeId node) const;  // DiffNames::kNone without a name
  // Equal ids: the same name for an alignment; events without a name are all different.
  [[nodiscard]] std::uint32_t aligned_name(NodeId node, Strip strip) const;

  [[nodiscard]] std::vector<NodeId> children(NodeId node) const;      // all, by time
  [[nodiscard]] std::vector<NodeId> gpu_children(NodeId node) const;  // those on the GPU path

  // From now on the children of `inner` count as those of `outer`, its ancestor.
  void trim_to(NodeId outer, NodeId inner) { trimmed_[outer.row] = inner; }

  // The innermost node below single-child wrappers, and whether it branches: below a launch, and
  // below an op that launches by itself, nothing is looked for.
  struct Collapsed {
    NodeId node;
    bool branches = false;  // its GPU-path children are worth aligning
  };
  [[nodiscard]] Collapsed collapse(NodeId node);

 private:
  [[nodiscard]] NodeId inner(NodeId node) const;
  template <class Use>
  void for_each_child(NodeId node, Use&& use) const;
  [[nodiscard]] NodeId next_wrapped(NodeId node, Collapsed& at) const;
  std::uint32_t named(std::vector<std::uint32_t>& ids, NodeId node, Strip strip) const;

  const Trace& trace_;
  const Tree& tree_;
  DiffNames& names_;
  std::unordered_map<std::uint32_t, NodeId> trimmed_;
  std::unordered_map<std::uint32_t, Collapsed> collapsed_;  // by node
  // By string; 0 is "not asked yet" (and the answer for the empty string).
  mutable std::vector<std::uint32_t> plain_ids_, stripped_ids_;
};

}  // namespace tracelens
