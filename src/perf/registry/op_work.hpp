// op_work.hpp: the work of a call by the model TraceLens has for its op.
//   built_in_work({.name = "aten::mm", .args = signature})->flops
#pragma once

#include <tracelens/model.hpp>

namespace tracelens::perf {

// The model's answer; a Reason when there is no model or it cannot say. Never throws on any input.
[[nodiscard]] OrReason<Work> built_in_work(const OpCall& call, Pass pass = Pass::kForward,
                                           Edition edition = Edition::kReference);

// Whether there is a model for this call. Generated Triton kernels have one only if the trace
// recorded their arguments.
[[nodiscard]] bool has_model(const OpCall& call, Edition edition = Edition::kReference);

}  // namespace tracelens::perf
