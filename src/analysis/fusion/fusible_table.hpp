// fusible_table.hpp: what could be fused, by nn.Module and phase.
//   const Table table = fusible_kernels(input, *gpu);
#pragma once

#include <tracelens/gpu.hpp>
#include <tracelens/table.hpp>

#include "analysis/fusion/fusible.hpp"

namespace tracelens {

// Bytes per nanosecond that a fused kernel is held to reach; 0 where the GPU is not known.
[[nodiscard]] double fused_bandwidth(const Gpu* gpu);

// One row per class of module, phase and kind, the largest saving first. Nothing without a GPU.
[[nodiscard]] Table fusible_kernels(const FusionInput& input, const Gpu* gpu);

}  // namespace tracelens
