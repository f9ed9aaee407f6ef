// shared_stacks.hpp: call stacks as lists of names, of which each distinct one is made once: the calls of
// a training loop come from the same few hundred places.
//   SharedStacks stacks{trace, tree};
//   stacks.of(node)                                     // ['a.py(3): f', 'nn.Module: Linear', 'aten::mm']
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/value.hpp>
#include <utility>
#include <vector>

#include "analysis/ops/frame_names.hpp"

namespace tracelens {

class SharedStacks {
 public:
  SharedStacks(const Trace& trace, const Tree& tree)
      : frames_{trace}, tree_{tree}, places_(tree.size()) {}

  static constexpr std::uint32_t kDeepest =
      500;  // of a runaway recursion each list would be one of its own

  // The names from the root down to the node; null when there are more than kDeepest nodes.
  [[nodiscard]] Value of(NodeId node);
  [[nodiscard]] FrameNames& frames() { return frames_; }

 private:
  // Where a node stands: its stack, by number, and how many nodes there are down to it.
  struct Place {
    std::uint32_t stack = 0, depth = 0;  // depth 0: not known yet
  };
  struct Stack {
    std::uint32_t outer = 0;  // without the innermost name
    Value name;               // of the innermost
    Value list;               // null: not made yet
  };
  Place place(NodeId node);
  std::uint32_t longer(std::uint32_t stack, const Value& name);

  FrameNames frames_;
  const Tree& tree_;
  std::vector<Place> places_;         // by node
  std::vector<Stack> stacks_ = {{}};  // the first is empty
  std::map<std::pair<std::uint32_t, const std::string*>, std::uint32_t> longer_;
};

}  // namespace tracelens
