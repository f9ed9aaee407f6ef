// node.hpp: the call tree in words, for code that is not hot.
//   for (const Node root : roots(trace, tree))
//     for (const Node node : root.walk())                      // the node and all below it
//       if (node.is_op()) std::cout << node.name() << ' ' << node.gpu_us() << " us\n";
// A Node is three pointers wide: pass it by value. Trace and Tree must outlive it. Hot loops use
// the ids and spans of tree.hpp instead. Implemented here; nothing fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

class Node;

// Nodes for a range-based for or a standard algorithm: the children of one, or a whole subtree.
class NodeRange {
 public:
  class Iterator {
   public:
    using value_type = Node;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    inline Node operator*() const;
    inline Iterator& operator++();
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return row_ == other.row_; }

   private:
    friend class Node;
    Iterator(const Trace& trace, const Tree& tree, std::uint32_t row, bool steps_over)
        : trace_{&trace}, tree_{&tree}, row_{row}, steps_over_{steps_over} {}
    const Trace* trace_ = nullptr;
    const Tree* tree_ = nullptr;
    std::uint32_t row_ = 0;
    bool steps_over_ = false;  // the subtrees of siblings
  };
  [[nodiscard]] Iterator begin() const { return begin_; }
  [[nodiscard]] Iterator end() const { return end_; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }

 private:
  friend class Node;
  NodeRange(Iterator begin, Iterator end) : begin_{begin}, end_{end} {}
  Iterator begin_, end_;
};

class Node {
 public:
  Node(const Trace& trace, const Tree& tree, NodeId id) : trace_{&trace}, tree_{&tree}, id_{id} {}

  [[nodiscard]] NodeId id() const { return id_; }
  [[nodiscard]] EventId event() const { return tree_->event(id_); }
  [[nodiscard]] std::string_view name() const { return trace_->name(event()); }
  [[nodiscard]] Category category() const { return trace_->category(event()); }
  [[nodiscard]] std::int64_t start_ns() const { return trace_->ts_ns()[event().row]; }
  [[nodiscard]] std::int64_t dur_ns() const { return trace_->dur_ns()[event().row]; }
  [[nodiscard]] bool is_op() const { return tree_->is_op(id_); }
  [[nodiscard]] bool is_module() const { return tree_->is_module(id_); }
  [[nodiscard]] bool is_gpu() const { return tracelens::is_gpu(category()); }
  // The arguments of an op; null when none were recorded.
  [[nodiscard]] const Signature* arguments() const {
    const SignatureId id = trace_->signatures()[event().row];
    return id.valid() ? &trace_->signature(id) : nullptr;
  }

  // --- around it ---
  [[nodiscard]] std::optional<Node> parent() const { return node_if(tree_->parent(id_)); }
  [[nodiscard]] std::optional<Node> nearest_op() const { return node_if(tree_->nearest_op(id_)); }
  [[nodiscard]] std::optional<Node> nearest_module() const {
    return node_if(tree_->nearest_module(id_));
  }
  [[nodiscard]] NodeRange children() const {  // in order of time
    return range(id_.row + 1, true);
  }
  [[nodiscard]] NodeRange walk() const {  // itself and all below it, callers before callees
    return range(id_.row, false);
  }
  // Names from the root down to this node.
  [[nodiscard]] std::vector<std::string_view> call_stack() const {
    std::vector<std::string_view> names;
    for (NodeId node = id_; node.valid(); node = tree_->parent(node))
      names.push_back(trace_->name(tree_->event(node)));
    return {names.rbegin(), names.rend()};
  }

  // The same of those nodes alone of which keep(Node) holds.
  template <class Keep>
  [[nodiscard]] std::vector<std::string_view> call_stack(Keep keep) const {
    std::vector<std::string_view> names;
    for (NodeId node = id_; node.valid(); node = tree_->parent(node))
      if (keep(Node{*trace_, *tree_, node})) names.push_back(trace_->name(tree_->event(node)));
    return {names.rbegin(), names.rend()};
  }

  // --- sums over the subtree ---
  [[nodiscard]] std::span<const EventId> gpu_events() const { return tree_->gpu_events(id_); }
  [[nodiscard]] std::size_t gpu_count() const { return tree_->gpu_count(id_); }
  // Sum of durations; for the time in which any of them ran: busy_ns() of intervals.hpp.
  [[nodiscard]] double gpu_us() const { return static_cast<double>(tree_->gpu_sum_ns(id_)) / 1e3; }

  bool operator==(const Node& other) const { return id_ == other.id_; }

 private:
  [[nodiscard]] NodeRange range(std::uint32_t first, bool steps_over) const {
    return {{*trace_, *tree_, first, steps_over},
            {*trace_, *tree_, tree_->end(id_).row, steps_over}};
  }
  [[nodiscard]] std::optional<Node> node_if(NodeId id) const {
    return id.valid() ? std::optional{Node{*trace_, *tree_, id}} : std::nullopt;
  }

  const Trace* trace_;
  const Tree* tree_;
  NodeId id_;
};

inline Node NodeRange::Iterator::operator*() const { return {*trace_, *tree_, NodeId{row_}}; }
inline NodeRange::Iterator& NodeRange::Iterator::operator++() {
  row_ = steps_over_ ? tree_->end({row_}).row : row_ + 1;
  return *this;
}

// The calls nobody made, in order of time.
[[nodiscard]] inline std::vector<Node> roots(const Trace& trace, const Tree& tree) {
  std::vector<Node> nodes;
  for (const NodeId id : tree.roots()) nodes.emplace_back(trace, tree, id);
  return nodes;
}

// The node of an event; nothing when the event is not in the tree.
[[nodiscard]] inline std::optional<Node> node_of(const Trace& trace, const Tree& tree,
                                                 EventId event) {
  const NodeId id = tree.node(event);
  return id.valid() ? std::optional{Node{trace, tree, id}} : std::nullopt;
}

}  // namespace tracelens
