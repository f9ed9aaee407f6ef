#include "analysis/ops/autograd_wrappers.hpp"

#include <algorithm>
#include <string_view>

namespace tracelens {
namespace {

constexpr std::string_view kWrapper = "autograd::engine::evaluate_function:";

}  // namespace

AutogradWrappers::AutogradWrappers(const Trace& trace, const Tree& tree)
    : trace_{trace}, tree_{tree}, is_wrapper_name_(trace.string_count()), nodes_{tree.size()} {
  for (std::uint32_t id = 0; id < is_wrapper_name_.size(); ++id)
    is_wrapper_name_[id] = trace.text({id}).starts_with(kWrapper) ? 1 : 0;
  for (const EventId event : tree.backward_events()) {
    const EventId forward = forward_of(event);
    if (!forward.valid()) continue;
    if (const NodeId node = tree.node(forward); node.valid()) wrappers_.emplace_back(node, event);
    if (const NodeId wrapper = tree.node(event); wrapper.valid()) nodes_.add(wrapper.row);
  }
  nodes_.number();
  std::ranges::sort(wrappers_);
}

EventId AutogradWrappers::forward_of(EventId wrapper) const {
  if (is_wrapper_name_[trace_.names()[wrapper.row].row] == 0) return {};
  return tree_.forward_of(wrapper);
}

std::span<const std::pair<NodeId, EventId>> AutogradWrappers::of(NodeId forward) const {
  const auto node_of = &std::pair<NodeId, EventId>::first;
  const auto first = std::ranges::lower_bound(wrappers_, forward, {}, node_of);
  const auto last =
      std::ranges::lower_bound(first, wrappers_.end(), tree_.end(forward), {}, node_of);
  return {first, last};
}

}  // namespace tracelens
