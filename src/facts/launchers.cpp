#include "facts/launchers.hpp"

namespace tracelens {

NodeId find_launcher(const Trace& trace, const Tree& tree, NodeId gpu_node) {
  const NodeId call = tree.parent(gpu_node);
  for (NodeId node = tree.parent(call); node.valid(); node = tree.parent(node)) {
    if (tree.is_passed_over(node)) continue;
    const EventId event = tree.event(node);
    const Category category = trace.category(event);
    if (category == Category::kCpuOp && trace.name(event) != "execute") return node;
    if (category != Category::kCpuOp && category != Category::kPythonFunction) return call;
  }
  return call;
}

std::vector<NodeId> find_launchers(const Trace& trace, const Tree& tree) {
  std::vector<NodeId> launchers;
  launchers.reserve(tree.linked_gpu_events().size());
  for (const EventId gpu : tree.linked_gpu_events())
    launchers.push_back(find_launcher(trace, tree, tree.node(gpu)));
  return launchers;
}

}  // namespace tracelens
