// op_sheets.hpp: GEMMs, convolutions and attention of a JAX profile: a sheet per category with
// FLOPs, bytes and rates, in the columns of the Python TraceLens.
//   for (Table& table : jax_op_sheets(kernels)) add(std::move(table));
// A row is a kernel with the parameters of its HLO op. FLOPs and bytes are those of the op, and so
// is the time the rates are computed from: an op that launches several kernels has one rate, not
// one per kernel.
#pragma once

#include <tracelens/table.hpp>
#include <vector>

#include "analysis/jax/kernels.hpp"

namespace tracelens {

// op_gemm, op_fa_bwd, ...: those that have any kernel whose op is known.
[[nodiscard]] std::vector<Table> jax_op_sheets(const JaxKernels& kernels);

}  // namespace tracelens
