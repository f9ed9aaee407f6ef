// roofline.hpp: where the ops of a trace stand against what the GPU could do.
//   const Roofline roofline = measure_roofline(facts, {.edition = kExtended, .gpu = &gpu});
//   const Table table = roofline_table(roofline);
// One point per op and distinct arguments, measured as in unified_perf_summary: the GPU time of the
// op with everything below it; of a JAX profile one per HLO op. Rates are those of all its calls
// together.
#pragma once

#include <string>
#include <tracelens/table.hpp>

#include "analysis/kit/roofline_point.hpp"
#include "analysis/ops/input.hpp"

namespace tracelens {

// Only ops whose arguments were recorded and whose model answered are points. Needs options.gpu.
[[nodiscard]] Roofline measure_roofline(const TraceFacts& facts, const OpTableOptions& options);

// In a sentence, why a trace gives no points.
[[nodiscard]] std::string why_no_points(const TraceFacts& facts);

[[nodiscard]] Table roofline_table(const Roofline& roofline);

}  // namespace tracelens
