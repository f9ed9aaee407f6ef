// launchers.hpp: the op a GPU event is charged to.
//   const Launchers launchers{trace, tree};
//   launchers.first_kernel(op);        // the earliest GPU event charged to the op itself
// Climbing from the runtime call, Python frames and the graph executor's "execute" are looked
// through; the first other cpu_op is the launcher. When something else is met (a call inside a
// call), or nothing, the runtime call itself is. Communication kernels are charged to nobody.
#pragma once

#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/gpu/work.hpp"

namespace tracelens {

// The launcher of a linked GPU event.
[[nodiscard]] NodeId find_launcher(const Trace& trace, const Tree& tree, NodeId gpu_node);

class Launchers {
 public:
  Launchers(const Trace& trace, const Tree& tree);
  // Of the GPU events charged to this very node, the earliest; invalid when there is none.
  [[nodiscard]] EventId first_kernel(NodeId launcher) const { return first_[launcher.row]; }

 private:
  std::vector<EventId> first_;  // by node
};

}  // namespace tracelens
