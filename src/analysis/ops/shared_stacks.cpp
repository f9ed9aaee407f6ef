#include "analysis/ops/shared_stacks.hpp"

#include <algorithm>

namespace tracelens {

std::uint32_t SharedStacks::longer(std::uint32_t stack, const Value& name) {
  const auto [entry, is_new] = longer_.try_emplace({stack, &name.as_text()});
  if (is_new) {
    entry->second = static_cast<std::uint32_t>(stacks_.size());
    stacks_.push_back({stack, name, {}});
  }
  return entry->second;
}

SharedStacks::Place SharedStacks::place(NodeId node) {
  std::vector<NodeId> unknown;
  Place above;
  for (; node.valid(); node = tree_.parent(node)) {
    above = places_[node.row];
    if (above.depth != 0) break;
    unknown.push_back(node);
  }
  for (auto next = unknown.rbegin(); next != unknown.rend(); ++next) {
    ++above.depth;
    if (above.depth <= kDeepest)
      if (const Value& name = frames_.of(tree_.event(*next)); !name.is_null())
        above.stack = longer(above.stack, name);
    places_[next->row] = above;
  }
  return above;
}

Value SharedStacks::of(NodeId node) {
  const Place where = place(node);
  if (where.depth > kDeepest) return {};
  Stack& stack = stacks_[where.stack];
  if (stack.list.is_null()) {
    std::vector<Value> names;
    for (std::uint32_t at = where.stack; at != 0; at = stacks_[at].outer)
      names.push_back(stacks_[at].name);
    std::ranges::reverse(names);
    stack.list = Value::list(std::move(names));
  }
  return stack.list;
}

}  // namespace tracelens
