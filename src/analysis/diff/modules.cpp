#include "analysis/diff/modules.hpp"

#include <vector>

namespace tracelens {

const ModuleStack& ModuleStacks::of(EventId event) {
  const NodeId innermost = tree_.nearest_module(tree_.node(event));
  const auto [found, is_new] = by_module_.try_emplace(innermost.row);
  ModuleStack& stack = found->second;
  if (!is_new) return stack;
  std::vector<NodeId> modules;
  for (NodeId at = innermost; at.valid(); at = tree_.nearest_module(at)) modules.push_back(at);
  for (auto module = modules.rbegin(); module != modules.rend(); ++module) {
    stack.innermost = std::string{trace_.name(tree_.event(*module))};
    stack.text += (stack.text.empty() ? "" : ";") + stack.innermost;
  }
  if (modules.empty()) stack = {"root", "root"};
  return stack;
}

}  // namespace tracelens
