// recompute.hpp: work done again in the backward pass by activation checkpointing.
//   const RecomputeMarks marks = mark_recompute(trace, tree);   // tree with Python frames
//   if (marks.is_recompute(tree.node(kernel))) ...
#pragma once

#include <cstdint>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

struct RecomputeMarks {
  std::vector<std::uint8_t> marked;  // by node
  [[nodiscard]] bool is_recompute(NodeId node) const {
    return node.valid() && marked[node.row] != 0;
  }
};

// Marks every frame of torch.utils.checkpoint's recompute_fn and all below it, GPU events included.
[[nodiscard]] RecomputeMarks mark_recompute(const Trace& trace, const Tree& tree);

}  // namespace tracelens
