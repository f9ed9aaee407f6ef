// triton.hpp: kernels that torch.compile generates; their names list the ops they fuse.
//   fused_ops("triton_poi_fused__unsafe_view_mul_silu_2")   // {"_unsafe_view", "mul", "silu"}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "perf/core/arguments.hpp"

namespace tracelens::perf {

// Whether the name is that of a generated kernel and the trace holds what the model needs: shapes,
// types, and the number of elements as an integer argument.
[[nodiscard]] bool has_triton_model(const Arguments& in);

// FLOPs = elements * sum of the weights of the fused ops; bytes = every tensor once, and for
// pointwise kernels one more write of the first one's size. Only for calls with has_triton_model().
[[nodiscard]] Work triton_work(const Arguments& in);

// The ops in a kernel's name, left to right; empty when the name does not split into known ops.
[[nodiscard]] std::vector<std::string> fused_ops(std::string_view kernel);

}  // namespace tracelens::perf
