// roofline.hpp: the ops of a PyTorch trace as points of a roofline.
//   collect_op_points(ops, roofline);
#pragma once

#include <tracelens/roofline.hpp>

#include "analysis/ops/input.hpp"

namespace tracelens {

// Adds a point per op and distinct arguments whose model answered, without its share and its roof,
// and the GPU time of all ops.
void collect_op_points(OpInput& input, Roofline& roofline);

}  // namespace tracelens
