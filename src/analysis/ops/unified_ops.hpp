// unified_ops.hpp: the ops that together account for every non-communication GPU event once.
//   const std::vector<UnifiedOp> ops = collect_unified_ops(input);
// Going down the call tree, the first op with a model is taken with everything below it; where no
// model is to be found below, the op that launches the work. A backward op without a model of its
// own is answered by the model of the forward op it is linked to, when it is the only one to be; of
// its GPU work it has what ops with a model below it do not account for.
// Each GPU event that ends up with no op gets a synthetic one: "caller->kernel (Synthetic Op)".
#pragma once

#include <cstdint>
#include <string>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/ops/input.hpp"

namespace tracelens {

struct UnifiedOp {
  OpRow row;  // GPU events in tree order; busy time and answer as the model measures
  StringId name;
  StringId kernel;       // of a synthetic op: the kernel in its name; else invalid
  std::int64_t uid = 0;  // position in the trace; those of synthetic ops follow the last event
  std::uint32_t category = 0;
  bool has_model = false;  // its own or that of its forward op
  bool answered = false;   // the model gave an answer
  NodeId top;              // where the way down to it began; invalid for synthetic ops
};

[[nodiscard]] std::vector<UnifiedOp> collect_unified_ops(OpInput& input);

[[nodiscard]] std::string unified_name(const Trace& trace, const UnifiedOp& op);

}  // namespace tracelens
