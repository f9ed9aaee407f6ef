// category_sheets.hpp: one sheet per family of modelled ops (GEMM, SDPA_fwd, SDPA_bwd, CONV_fwd,
// ...), one row per op and set of model parameters.
//   for (Table& sheet : category_sheets(input)) ...
// Every op of the family in the trace counts, inside another op or not, with GPU work or not, so
// that the sums of a sheet are not GPU time of the trace.
#pragma once

#include <tracelens/table.hpp>
#include <vector>

#include "analysis/ops/input.hpp"

namespace tracelens {

// In report order: per family its sheets, then (OpTableOptions::overlap) their overlap variants.
// Sheets without rows are left out.
[[nodiscard]] std::vector<Table> category_sheets(OpInput& input);

}  // namespace tracelens
