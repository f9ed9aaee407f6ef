// roofline.hpp: the HLO ops of a JAX profile as points of a roofline.
//   const JaxRooflinePoints found = jax_roofline_points(trace, tree);
// One point per HLO instruction whose FLOPs are known from its module: all its runs together.
#pragma once

#include <cstdint>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include <tracelens/roofline.hpp>

namespace tracelens {

struct JaxRooflinePoints {
  std::vector<RooflinePoint> points;  // without their share and their roof
  std::int64_t all_ops_ns = 0;        // GPU time of all HLO ops
};
[[nodiscard]] JaxRooflinePoints jax_roofline_points(const Trace& trace, const Tree& tree);

}  // namespace tracelens
