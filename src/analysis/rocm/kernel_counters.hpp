// kernel_counters.hpp: what the hardware counted while kernels ran, by kernel and counter.
//   if (auto table = kernel_counters(RocprofKernels{trace})) report.tables.push_back(*table);
#pragma once

#include <optional>
#include <tracelens/table.hpp>

#include "analysis/rocm/rocprof_tables.hpp"

namespace tracelens {

// The kernels that took most time first, their counters by name. None when nothing was counted.
[[nodiscard]] std::optional<Table> kernel_counters(const RocprofKernels& kernels);

}  // namespace tracelens
