#include "facts/launchers.hpp"

#include "io/parallel.hpp"
#include "io/threads.hpp"

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

std::vector<NodeId> find_launchers(const Trace& trace, const Tree& tree, int threads) {
  const std::span<const EventId> gpu_events = tree.linked_gpu_events();
  std::vector<NodeId> launchers(gpu_events.size());
  io::for_each_range(io::thread_count(threads), gpu_events.size(),
                     [&](std::size_t begin, std::size_t end) {
                       for (std::size_t i = begin; i < end; ++i)
                         launchers[i] = find_launcher(trace, tree, tree.node(gpu_events[i]));
                     });
  return launchers;
}

EventId recorded_launch_of(const Trace& trace, const Tree& tree, EventId gpu_event) {
  const NodeId node = tree.node(gpu_event);
  NodeId call = node.valid() ? tree.parent(node) : NodeId{};
  while (call.valid() && tree.event(call).row >= trace.recorded()) call = tree.parent(call);
  return call.valid() ? tree.event(call) : EventId{};
}

}  // namespace tracelens
