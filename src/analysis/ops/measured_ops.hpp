// measured_ops.hpp: which GPU events an op's figures are about.
//   MeasuredOps ops{trace, tree, table, models};
//   const OpRow row = ops.forward(event);          // its own GPU work
//   const OpRow back = ops.backward(event);        // that of the backward ops linked to it
//   ops.kernels(row);                              // positions in LaunchTable::gpu_events()
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <utility>
#include <vector>

#include "analysis/ops/kernel_stats.hpp"
#include "analysis/ops/launch_table.hpp"
#include "analysis/ops/op_models.hpp"

namespace tracelens {

// One op with its measured GPU work.
struct OpRow {
  EventId event;
  NodeId node;               // invalid: not in the tree
  std::int64_t busy_ns = 0;  // time in which at least one of the GPU events ran
  OpModels::Answer answer = OpModels::kNotAsked;
  std::uint32_t first = 0, count = 0;  // MeasuredOps::kernels()
};

class MeasuredOps {
 public:
  MeasuredOps(const Trace& trace, const Tree& tree, LaunchTable& table, OpModels& models);

  // GPU events by start, and the model's answer.
  [[nodiscard]] OpRow forward(EventId event);
  // GPU events below the backward wrappers linked to the op or to anything below it.
  [[nodiscard]] OpRow backward(EventId event);
  // Any GPU events, in the given order; no model is asked.
  [[nodiscard]] OpRow plain(EventId event, NodeId node, std::span<const GpuPosition> kernels);

  [[nodiscard]] std::span<const GpuPosition> kernels(const OpRow& row) const {
    return std::span{positions_}.subspan(row.first, row.count);
  }
  void add_kernels(const OpRow& row, KernelStats& stats);

  // The wrapper that autograd ran a backward op in: its linked forward op, invalid when none.
  [[nodiscard]] EventId forward_of_wrapper(EventId wrapper) const;

 private:
  OpRow keep(EventId event, NodeId node);

  const Trace& trace_;
  const Tree& tree_;
  LaunchTable& table_;
  OpModels& models_;
  std::vector<std::uint8_t> is_wrapper_name_;                // by StringId
  std::vector<std::pair<std::uint32_t, EventId>> wrappers_;  // by node of the forward op
  std::vector<GpuPosition> positions_, scratch_;
  std::vector<KernelUse> uses_;
};

}  // namespace tracelens
