// module_classes.hpp: in which nn.Modules an op runs. Needs a tree with Python frames.
//   ModuleClasses modules{trace, tree};
//   modules.text(modules.around(node))                  // "nn.Module: Linear", of Linear_0 to Linear_95
// Modules that differ only in their number are of one class.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/value.hpp>
#include <unordered_map>
#include <vector>

namespace tracelens {

// The class of an op in no module.
inline constexpr std::string_view kNoModule = "NA";

class ModuleClasses {
 public:
  ModuleClasses(const Trace& trace, const Tree& tree) : trace_{trace}, tree_{tree} {}

  // The class of the innermost module around a node.
  [[nodiscard]] std::uint32_t around(NodeId node) { return of(tree_.nearest_module(node)); }
  // Of a module itself; of an invalid node that of no module.
  [[nodiscard]] std::uint32_t of(NodeId module);
  [[nodiscard]] const std::string& text(std::uint32_t id) const { return texts_[id]; }

  // The name of the node's op, then those of the modules around it, the innermost first.
  [[nodiscard]] Value stack(NodeId node) const;

 private:
  const Trace& trace_;
  const Tree& tree_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::string> texts_;
};

}  // namespace tracelens
