#include <tracelens/tree.hpp>

#include <algorithm>

namespace tracelens {

bool is_module_name(std::string_view name) { return name.starts_with("nn.Module:"); }

EventId Tree::launch_of(EventId gpu_event) const {
  const NodeId node = nodes_[gpu_event.row];
  if (!node.valid() || !parents_[node.row].valid()) return {};
  return events_[parents_[node.row].row];
}

NodeId Tree::nearest_op(NodeId node) const {
  do node = parents_[node.row];
  while (node.valid() && (!is_op(node) || is_passed_over(node)));
  return node;
}

NodeId Tree::nearest_module(NodeId node) const {
  do node = parents_[node.row];
  while (node.valid() && !is_module(node));
  return node;
}

EventId Tree::forward_of(EventId backward) const {
  const auto found = std::ranges::lower_bound(backward_events_, backward);
  if (found == backward_events_.end() || *found != backward) return {};
  return forward_of_backward_[static_cast<std::size_t>(found - backward_events_.begin())];
}

std::span<const EventId> Tree::backward_of(EventId forward) const {
  const auto [first, last] =
      std::equal_range(forward_events_.begin(), forward_events_.end(), forward);
  return std::span{backward_of_forward_}.subspan(
      static_cast<std::size_t>(first - forward_events_.begin()),
      static_cast<std::size_t>(last - first));
}

}  // namespace tracelens
