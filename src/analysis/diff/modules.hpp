// modules.hpp: the nn.Modules around an op.
//   ModuleStacks stacks{trace, tree};
//   stacks.of(op).text       // "nn.Module: Net_0;nn.Module: Linear_3"; "root" outside any module
#pragma once

#include <string>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <unordered_map>

namespace tracelens {

struct ModuleStack {
  std::string text = {};       // outermost first, separated by ';'
  std::string innermost = {};  // the last of them
};

class ModuleStacks {
 public:
  ModuleStacks(const Trace& trace, const Tree& tree) : trace_{trace}, tree_{tree} {}
  // `event` must be in the tree. The reference stays valid.
  const ModuleStack& of(EventId event);

 private:
  const Trace& trace_;
  const Tree& tree_;
  std::unordered_map<std::uint32_t, ModuleStack> by_module_;  // by the innermost module's node
};

}  // namespace tracelens
