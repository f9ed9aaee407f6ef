#include "analysis/gpu/launchers.hpp"

namespace tracelens {

NodeId find_launcher(const Trace& trace, const Tree& tree, NodeId gpu_node) {
  const NodeId call = tree.parent(gpu_node);
  for (NodeId node = tree.parent(call); node.valid(); node = tree.parent(node)) {
    const EventId event = tree.event(node);
    const Category category = trace.category(event);
    if (category == Category::kCpuOp && trace.name(event) != "execute") return node;
    if (category != Category::kCpuOp && category != Category::kPythonFunction) return call;
  }
  return call;
}

Launchers::Launchers(const Trace& trace, const Tree& tree) : first_(tree.size()) {
  GpuWorkKinds kinds{trace};
  for (const EventId gpu : tree.linked_gpu_events()) {
    if (kinds.is_communication(gpu)) continue;
    EventId& first = first_[find_launcher(trace, tree, tree.node(gpu)).row];
    const auto starts_earlier = [&](EventId a, EventId b) {  // equal starts: file order
      const std::int64_t start_a = trace.ts_ns()[a.row], start_b = trace.ts_ns()[b.row];
      return start_a != start_b ? start_a < start_b : a < b;
    };
    if (!first.valid() || starts_earlier(gpu, first)) first = gpu;
  }
}

}  // namespace tracelens
