// autograd_wrappers.hpp: the events that autograd ran backward ops in, and the forward ops they are linked to.
//   const AutogradWrappers wrappers{trace, tree};
//   wrappers.forward_of(event);                          // invalid: no wrapper, or not linked
//   for (const auto& [node, wrapper] : wrappers.of(node)) // of an op and of all below it
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <utility>
#include <vector>

#include "tree/numbered_set.hpp"

namespace tracelens {

class AutogradWrappers {
 public:
  AutogradWrappers(const Trace& trace, const Tree& tree);  // refers to both

  [[nodiscard]] EventId forward_of(EventId wrapper) const;
  [[nodiscard]] const NumberedSet& nodes() const { return nodes_; }  // of those that have one
  // By node of the forward op; those of one in file order.
  [[nodiscard]] std::span<const std::pair<NodeId, EventId>> of(NodeId forward) const;

 private:
  const Trace& trace_;
  const Tree& tree_;
  std::vector<std::uint8_t> is_wrapper_name_;  // by StringId
  std::vector<std::pair<NodeId, EventId>> wrappers_;
  NumberedSet nodes_;
};

}  // namespace tracelens
