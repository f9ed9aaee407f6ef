// fusible.hpp: chains of small kernels that one kernel could do, and elementwise work that a matrix
// product could do on its way out.
//   for (const FusibleRun& run : fusible_runs(input, 0.7 * gpu.memory_gbps)) saved += run.saved_ns();
// By shapes alone: traces have no addresses of tensors. So a chain counts only inside one call of an
// nn.Module.
#pragma once

#include <cstdint>
#include <string>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/fusion/fusion_input.hpp"

namespace tracelens {

struct FusibleRun {
  std::vector<EventId> kernels;  // by start, of one stream
  // The calls that launched them and nothing else, the outermost of each.
  std::vector<EventId> ops;
  std::string unit;  // class of the nn.Module
  NodeId module;
  ProgramPhase phase = ProgramPhase::kForward;
  std::int64_t time_ns = 0;  // of the kernels
  std::int64_t fused_ns = 0;
  double bytes = 0, bytes_fused = 0;
  [[nodiscard]] std::int64_t saved_ns() const { return time_ns - fused_ns; }
};

// Consecutive elementwise, reduction and copy kernels of a stream in one call of a module and one
// phase: at least three, mostly no copies, on a tensor of at least 1 MiB, that would take less than
// 0.9 of their time as one. `bytes_per_ns`: what the fused kernel reads and writes per nanosecond.
[[nodiscard]] std::vector<FusibleRun> fusible_runs(const FusionInput& input, double bytes_per_ns);

// One or two elementwise kernels after a matrix product or convolution, of its result's size, in the
// same module or the one around it: bias, activation, residual.
struct Epilogue {
  EventId matrix;
  std::vector<EventId> kernels;
  std::vector<EventId> ops;
  std::string unit;  // class of the nn.Module of the matrix product
  NodeId module;
  ProgramPhase phase = ProgramPhase::kForward;
  std::int64_t time_ns = 0;  // of the kernels
};
[[nodiscard]] std::vector<Epilogue> epilogues(const FusionInput& input);

}  // namespace tracelens
