// call_stacks.hpp: from the Python frames around an op down to its kernels, and the frame a user
// would look at first. Needs a tree with Python frames.
//   const Value stack = call_stack_value(chains);       // ['a.py(3): f', 'aten::mm', 'gemm']
//   entry_point(stack, "aten::mm")                      // "a.py(3): f"
// Frames are called as FrameNames has it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>
#include <vector>

#include "analysis/ops/frame_names.hpp"
#include "analysis/ops/input.hpp"
#include "analysis/ops/kernel_stats.hpp"
#include "analysis/ops/unified_ops.hpp"

namespace tracelens {

using CallChain = std::vector<Value>;  // texts, outermost first

// One chain: its elements. Several: what they have in common, then each distinct rest as a list of
// its own. Null when there is none.
[[nodiscard]] Value call_stack_value(std::span<const CallChain> chains);

// The Python frame that stands for the op in the user's code: the first one inside the op that is
// named after it, else the nearest one around it that is not plumbing of PyTorch's. Nothing when
// the op is not in the stack or no frame qualifies. `stack`: as call_stack_value() gives it.
[[nodiscard]] std::optional<std::string> entry_point(const Value& stack, std::string_view op);

// Of each GPU event of the op: the frames and ops around it, down to the call that launched it.
// None for a synthetic op.
[[nodiscard]] std::vector<CallChain> kernel_call_stacks(const OpInput& input, FrameNames& frames,
                                                        const UnifiedOp& op);

// The columns entry_point and call_stack_full of a row; `op` is the group's first op with GPU events
// (null: none), `kernels` the statistics over the group.
struct CallStackCells {
  std::string entry_point;
  Value full;
};
[[nodiscard]] CallStackCells call_stack_cells(const OpInput& input, FrameNames& frames,
                                              const UnifiedOp* op, const KernelStats& kernels);

}  // namespace tracelens
