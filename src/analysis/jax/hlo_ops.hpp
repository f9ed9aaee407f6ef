// hlo_ops.hpp: GPU time by HLO op, kind, scope and module of a JAX profile.
//   for (Table& table : jax_hlo_tables(trace, tree, ops, options)) add(std::move(table));
// All kernels of an op make one row: what it is, where in the program it comes from, what it costs
// and how near that is to what the GPU can do. The times of hlo_ops add up to those of all kernels,
// copies and fills.
#pragma once

#include <tracelens/gpu.hpp>
#include <tracelens/roofline.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/jax/ops.hpp"
#include "facts/kernel_rules.hpp"

namespace tracelens {

struct JaxHloOptions {
  const Gpu* gpu = nullptr;  // null: no roofline columns
  Peaks peaks = Peaks::kDatasheet;
  const KernelRules* rules = nullptr;  // what kernels do, by their names
};

// hlo_ops, hlo_ops_by_kind, hlo_scopes and hlo_modules.
[[nodiscard]] std::vector<Table> jax_hlo_tables(const Trace& trace, const Tree& tree,
                                                const JaxOps& ops, const JaxHloOptions& options);

}  // namespace tracelens
