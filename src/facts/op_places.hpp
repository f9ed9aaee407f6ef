// op_places.hpp: where in the program a host event stands: its op, the outermost op, its nn.Module,
// forward or backward.
//   const OpPlaces places{trace, tree, ranges};
//   if (places.phase(node) == ProgramPhase::kBackward) use(places.module(node));
// Below an autograd node the module is that of the forward op the node belongs to, unless a module
// runs there itself (recomputation). Modules need a tree with Python frames. One pass over the tree.
#pragma once

#include <cstdint>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "facts/host_ranges.hpp"

namespace tracelens {

enum class ProgramPhase : std::uint8_t { kForward, kBackward, kOptimizer };
[[nodiscard]] std::string_view phase_name(ProgramPhase phase);

class OpPlaces {
 public:
  // Refers to all three.
  OpPlaces(const Trace& trace, const Tree& tree, const HostRanges& ranges);

  // The node itself where it is one; invalid: none.
  [[nodiscard]] NodeId op(NodeId node) const { return places_[node.row].op; }
  [[nodiscard]] NodeId top_op(NodeId node) const { return places_[node.row].top_op; }
  [[nodiscard]] NodeId module(NodeId node) const;
  // The innermost autograd node around it.
  [[nodiscard]] NodeId autograd(NodeId node) const { return places_[node.row].autograd; }
  [[nodiscard]] ProgramPhase phase(NodeId node) const;

 private:
  struct Place {
    NodeId op, top_op, module, autograd;
  };
  const Trace& trace_;
  const Tree& tree_;
  const HostRanges& ranges_;
  std::vector<Place> places_;  // by node
};

}  // namespace tracelens
