// op_work.hpp: the work of a call by the model of its op.
//   op_work({.name = "aten::mm", .args = signature})->flops
#pragma once

#include "perf/core/work.hpp"

namespace tracelens::perf {

// The model's answer; a Reason when there is no model or it cannot say. Never throws on any input.
[[nodiscard]] OrReason<Work> op_work(const OpCall& call, Pass pass = Pass::kForward,
                                     Edition edition = Edition::kReference);

// Whether op_work() has a model for this call. Generated Triton kernels have one only if the trace
// recorded their arguments.
[[nodiscard]] bool has_model(const OpCall& call, Edition edition = Edition::kReference);

}  // namespace tracelens::perf
