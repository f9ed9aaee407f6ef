// roofline.hpp: where ops stand against the limits of a GPU, of what a report has measured already.
//   const Roofline points = op_roofline(context.ops(), *context.gpu(), {});
#pragma once

#include <string>
#include <tracelens/roofline.hpp>

#include "analysis/ops/input.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

// As measure_roofline(): of a PyTorch trace, by the edition and models of its ops, and of a JAX profile.
[[nodiscard]] Roofline op_roofline(OpInput& ops, const Gpu& gpu, const RooflineOptions& options);
[[nodiscard]] Roofline hlo_roofline(const TraceFacts& facts, const Gpu& gpu,
                                    const RooflineOptions& options);

[[nodiscard]] std::string why_no_points(const TraceFacts& facts);

}  // namespace tracelens
