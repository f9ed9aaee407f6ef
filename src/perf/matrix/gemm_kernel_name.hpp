// gemm_kernel_name.hpp: what the name of a GEMM kernel tells about the call.
//   parse_gemm_kernel("Cijk_Ailk_Bljk_BBS_BH_MT128x64x32_...")   // not transposed; tile 128x64x32
//   gemm_transpose(kernels)                                      // (True, False), for `transpose`
// Operands are in BLAS order, which is the reverse of PyTorch's: (True, False) is X * W^T.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tracelens/value.hpp>

namespace tracelens::perf {

struct GemmTile {
  std::int64_t m = 0, n = 0, depth = 0;
};

struct GemmKernel {
  std::optional<bool> transpose_a, transpose_b;  // unknown when the name does not say
  std::optional<GemmTile> tile;
};

// Tensile (ROCm) and nvjet (NVIDIA) names; nothing for any other.
[[nodiscard]] std::optional<GemmKernel> parse_gemm_kernel(std::string_view name);

// The `transpose` parameter of an op on the GEMM sheet, from the first of its kernels (by start)
// that parses; nothing when none does. It belongs to the call, not to the signature, so op_work()
// leaves it to the caller to append.
[[nodiscard]] std::optional<Value> gemm_transpose(std::span<const std::string_view> kernels);

}  // namespace tracelens::perf
