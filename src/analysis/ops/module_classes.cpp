#include "analysis/ops/module_classes.hpp"

#include "analysis/ops/frame_names.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

// Long names are cut, as the Python TraceLens does.
std::string shown_name(std::string_view name) {
  constexpr std::size_t kKept = 256;
  std::size_t at = 0;
  for (std::size_t points = 0; at < name.size() && points < kKept; ++points)
    static_cast<void>(next_code_point(name, at));
  return std::string{name.substr(0, at)} + (at < name.size() ? ".." : "");
}

}  // namespace

std::uint32_t ModuleClasses::of(NodeId module) {
  const std::string name =
      without_numbers(module.valid() ? trace_.name(tree_.event(module)) : kNoModule);
  const auto [found, added] = ids_.try_emplace(name, static_cast<std::uint32_t>(texts_.size()));
  if (added) texts_.push_back(name);
  return found->second;
}

Value ModuleClasses::stack(NodeId node) const {
  std::vector<Value> names{shown_name(trace_.name(tree_.event(node)))};
  for (node = tree_.nearest_module(node); node.valid(); node = tree_.nearest_module(node))
    names.emplace_back(shown_name(trace_.name(tree_.event(node))));
  return Value::list(std::move(names));
}

}  // namespace tracelens
