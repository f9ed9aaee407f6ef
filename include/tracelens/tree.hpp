// tree.hpp: who called whom: host call stacks, launches, nn.Modules. Implemented in src/tree.
//   const Tree tree = build_tree(trace, {.python_frames = true});
//   for (NodeId node : tree.roots()) total += tree.gpu_sum_ns(node);
// Nodes stand in tree order, each followed by its whole subtree: the subtree of n is the range
// [n, end(n)), and a sum over it is one subtraction. A runtime call owns the GPU events it
// launched, which come after its host children. GPU events that no call in the trace launched are
// not nodes. Children stand in order of time; the trees of one thread follow each other, thread by
// thread. Where the trace says who called an event (Trace::given_parents()), that counts and not the
// times; an event that was added to the trace stands where what it took over stood, else behind its
// recorded siblings, in the order of rows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

using NodeId = Id<struct NodeTag>;

struct TreeOptions {
  bool python_frames = false;  // python_function events take part in the call stacks
  // Also link GPU events that only share a correlation id with a runtime call (ROCm fills have no
  // flow), and all GPU events of a call instead of the last one. Off: as the Python TraceLens does.
  bool link_by_correlation = false;
  int threads = 1;  // that build it, 0: one for each CPU; the tree is the same for any number
};

class Tree {
 public:
  [[nodiscard]] std::size_t size() const { return events_.size(); }
  [[nodiscard]] EventId event(NodeId node) const { return events_[node.row]; }
  [[nodiscard]] NodeId parent(NodeId node) const { return parents_[node.row]; }  // invalid: root
  [[nodiscard]] NodeId end(NodeId node) const { return NodeId{ends_[node.row]}; }
  [[nodiscard]] std::span<const EventId> events() const { return events_; }
  [[nodiscard]] std::span<const NodeId> parents() const { return parents_; }
  [[nodiscard]] std::span<const std::uint32_t> ends() const { return ends_; }
  // The node of an event; invalid when the event is not in the tree.
  [[nodiscard]] NodeId node(EventId event) const { return nodes_[event.row]; }
  [[nodiscard]] bool is_op(NodeId node) const { return (flags_[node.row] & kOpFlag) != 0; }
  [[nodiscard]] bool is_module(NodeId node) const { return (flags_[node.row] & kModuleFlag) != 0; }
  [[nodiscard]] bool is_passed_over(NodeId node) const {
    return (flags_[node.row] & kPassedOverFlag) != 0;
  }
  [[nodiscard]] std::span<const NodeId> roots() const { return roots_; }  // parentless, by time
  // cpu_ops with no cpu_op above them, by time (with Python frames they usually have a parent).
  [[nodiscard]] std::span<const EventId> op_roots() const { return op_roots_; }

  // --- GPU work below a node ---
  [[nodiscard]] std::uint32_t gpu_count(NodeId node) const {
    return gpu_before_[ends_[node.row]] - gpu_before_[node.row];
  }
  // Sum of durations, not of busy time: a node's sum is its own kernels plus its children's sums.
  [[nodiscard]] std::int64_t gpu_sum_ns(NodeId node) const {
    return gpu_ns_before_[gpu_before_[ends_[node.row]]] - gpu_ns_before_[gpu_before_[node.row]];
  }
  // The GPU events of the subtree in tree order: by host time of the launch, those of one launch in
  // file order. A GPU event's own list is the event itself.
  [[nodiscard]] std::span<const EventId> gpu_events(NodeId node) const {
    return std::span{gpu_events_}.subspan(gpu_before_[node.row], gpu_count(node));
  }
  // Every linked GPU event, in tree order.
  [[nodiscard]] std::span<const EventId> linked_gpu_events() const { return gpu_events_; }
  [[nodiscard]] bool is_linked(EventId gpu_event) const { return nodes_[gpu_event.row].valid(); }
  // The runtime call that launched a GPU event; invalid when unlinked.
  [[nodiscard]] EventId launch_of(EventId gpu_event) const;

  // --- climbing ---
  // cpu_op above, not the node itself; those that the trace says to pass over do not count.
  [[nodiscard]] NodeId nearest_op(NodeId node) const;
  [[nodiscard]] NodeId nearest_module(NodeId node) const;  // nn.Module above, not the node itself

  // --- autograd: by sequence number ---
  [[nodiscard]] EventId forward_of(EventId backward) const;                   // invalid: none
  [[nodiscard]] std::span<const EventId> backward_of(EventId forward) const;  // in link order
  [[nodiscard]] std::size_t forward_backward_links() const { return backward_events_.size(); }
  // Those that have a forward op, in the order of the file.
  [[nodiscard]] std::span<const EventId> backward_events() const { return backward_events_; }

  // --- what the builder had to do; for `check` ---
  struct Stats {
    std::uint64_t discarded = 0;  // host events that outlast their caller and were left out
    std::uint64_t discarded_ops = 0;
    std::uint64_t bleed_pops = 0;  // host events that outlast their caller by less than 1 us and
                                   // became its siblings
    std::uint64_t unlinked_no_launch = 0;  // GPU events whose launch is not in the trace
    std::uint64_t unlinked_no_flow = 0;    // the launch is there, the flow that says so is not
    std::uint64_t ignored_parents = 0;     // given parents that make no tree
    bool links_by_external_id = false;     // very old traces: no correlation ids
    bool gpu_only = false;                 // no cpu_op in the trace
  };
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  friend class TreeBuilder;   // src/tree/builder.hpp
  friend class GivenParents;  // src/tree/given_parents.hpp

  Column<EventId> events_;
  Column<NodeId> parents_;
  Column<std::uint32_t> ends_;
  Column<NodeId> nodes_;  // by event row
  std::vector<NodeId> roots_;
  std::vector<EventId> op_roots_;
  Column<EventId> gpu_events_;
  Column<std::uint32_t> gpu_before_;    // size() + 1: GPU events in nodes [0, i)
  Column<std::int64_t> gpu_ns_before_;  // one more than gpu_events_: time of [0, i)
  static constexpr std::uint8_t kOpFlag = 1, kModuleFlag = 2, kPassedOverFlag = 4;
  Column<std::uint8_t> flags_;  // by node
  // The same pairs twice: sorted by backward event, and by forward event (then in link order).
  std::vector<EventId> backward_events_, forward_of_backward_;
  std::vector<EventId> forward_events_, backward_of_forward_;
  Stats stats_;
};

[[nodiscard]] Tree build_tree(const Trace& trace, const TreeOptions& options = {});

// "nn.Module: Linear_12" -> true
[[nodiscard]] bool is_module_name(std::string_view name);

// The loop the trace was recorded around, for when the profiler did not mark its steps: the
// outermost Python call in which the same calls repeat at least three times and hold most of the
// caller's GPU work. Empty when there is none; needs a tree with Python frames.
struct IterationRoot {
  EventId first;  // the event that opens the iteration
  std::int64_t ts_ns = 0, dur_ns = 0;
};
[[nodiscard]] std::vector<IterationRoot> find_iterations(const Trace& trace, const Tree& tree);

}  // namespace tracelens
