// launchers.hpp: the op a GPU event is charged to.
// Climbing from the runtime call, Python frames and the graph executor's "execute" are looked
// through; the first other cpu_op is the launcher. When something else is met (a call inside a
// call), or nothing, the runtime call itself is.
#pragma once

#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

// The launcher of one linked GPU event.
[[nodiscard]] NodeId find_launcher(const Trace& trace, const Tree& tree, NodeId gpu_node);

// The launchers of tree.linked_gpu_events(), in the same order.
[[nodiscard]] std::vector<NodeId> find_launchers(const Trace& trace, const Tree& tree,
                                                 int threads = 1);

// The call with which the host launched a GPU event. Of a kernel below captured ops that is the
// launch of their graph. Invalid: not in the trace.
[[nodiscard]] EventId recorded_launch_of(const Trace& trace, const Tree& tree, EventId gpu_event);

}  // namespace tracelens
