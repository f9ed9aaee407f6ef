// text.hpp: the merged tree as text, one node per line.
//   const std::string text = merged_tree_text(input);
//     ├── aten::conv2d
//     │   └── combined: aten::miopen_convolution | aten::cudnn_convolution
//     └── << trace2: aten::sum
// Of the children of a node those that both traces have come first, then those of the first, then
// those of the second.
#pragma once

#include <string>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>

#include "analysis/diff/merge.hpp"

namespace tracelens {

// Two traces laid over each other; all parts must outlive whatever is made from it.
struct DiffInput {
  const Trace& trace1;
  const Tree& tree1;
  const Trace& trace2;
  const Tree& tree2;
  const MergedTree& merged;
};

struct DiffTextOptions {
  bool prune_idle_roots = false;  // leave out roots without GPU work on either side
};

[[nodiscard]] std::string merged_tree_text(const DiffInput& input,
                                           const DiffTextOptions& options = {});

// The name of a node as traced; its position in the trace when it has none.
[[nodiscard]] std::string node_title(const Trace& trace, const Tree& tree, NodeId node);
// The same for tables by op: the title of an HLO op has no line of the source.
[[nodiscard]] std::string op_title(const Trace& trace, const Tree& tree, NodeId node);

}  // namespace tracelens
