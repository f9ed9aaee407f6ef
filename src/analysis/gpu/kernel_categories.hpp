// kernel_categories.hpp: what the kernels of each op, or of each graph launch, do, by their names.
//   const auto table = kernel_categories(trace, collect_kernels(facts), rules);
#pragma once

#include <optional>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>

#include "analysis/gpu/kernels.hpp"
#include "facts/kernel_rules.hpp"

namespace tracelens {

// One row per (op, category), the costliest first; the launching call stands in for a missing op. A
// share is a category's part of the summed kernel time of one call of the op. No table when there
// are no kernels.
[[nodiscard]] std::optional<Table> kernel_categories(const Trace& trace, const KernelRows& kernels,
                                                     const KernelRules& rules);

}  // namespace tracelens
