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

EventId recorded_launch_of(const Trace& trace, const Tree& tree, EventId gpu_event) {
  const NodeId node = tree.node(gpu_event);
  NodeId call = node.valid() ? tree.parent(node) : NodeId{};
  while (call.valid() && tree.event(call).row >= trace.recorded()) call = tree.parent(call);
  return call.valid() ? tree.event(call) : EventId{};
}

}  // namespace tracelens
