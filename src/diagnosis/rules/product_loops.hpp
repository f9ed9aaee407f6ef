// product_loops.hpp: loops in the program that do many small matrix products of one shape, where one
// batched product could do them all: a loop over heads, over experts, over time steps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/context.hpp"

namespace tracelens {

// One pass through such a loop, forward or backward.
struct ProductLoop {
  TrackId track;
  std::int64_t start_ns = 0, end_ns = 0;
  NodeId module;                         // call of the nn.Module that the loop stands in
  std::size_t turns = 0;                 // most products of one shape
  std::vector<std::uint32_t> uses = {};  // all ops in it: places in c.op_uses()
  bool is_of_experts = false;            // by the module's name, or by ops that pick rows
};

struct LoopLimits {
  std::size_t least_turns = 8;
  double most_flops = 1e9;  // of a product
};
[[nodiscard]] std::vector<ProductLoop> product_loops(const DiagnosisContext& c,
                                                     const LoopLimits& limits);

// What is left when the turns become one: a turn's host time; of products what their work takes at
// `of_peak` of the GPU's peak, of other kernels a turn's.
void batch(const DiagnosisContext& c, const ProductLoop& loop, double of_peak, Collected& found);

}  // namespace tracelens
