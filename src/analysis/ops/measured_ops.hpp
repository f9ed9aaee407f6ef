// measured_ops.hpp: which GPU events an op's figures are about.
//   MeasuredOps ops{tree, table, wrappers, models};
//   const OpRow row = ops.forward(event);          // its own GPU work
//   const OpRow back = ops.backward(event);        // that of the backward ops linked to it
//   ops.kernels(row);                              // positions in LaunchTable::gpu_events()
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/ops/autograd_wrappers.hpp"
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
  MeasuredOps(const Tree& tree, const LaunchTable& table, const AutogradWrappers& wrappers,
              OpModels& models);

  // GPU events by start, and the model's answer.
  [[nodiscard]] OpRow forward(EventId event);
  // GPU events below the backward wrappers linked to the op or to anything below it.
  [[nodiscard]] OpRow backward(EventId event);
  // Any GPU events, in the given order; no model is asked.
  [[nodiscard]] OpRow plain(EventId event, NodeId node, std::span<const GpuPosition> kernels);

  // None of a row that found no room: ops may be nested in each other as deep as a file likes.
  [[nodiscard]] std::span<const GpuPosition> kernels(const OpRow& row) const {
    if (row.first == kNoRoom) return {};
    return std::span{positions_}.subspan(row.first, row.count);
  }
  void add_kernels(const OpRow& row, KernelStats& stats) const;
  [[nodiscard]] std::size_t rows_without_kernels() const { return without_kernels_; }

 private:
  static constexpr std::uint32_t kNoRoom = 0xffffffff;
  OpRow keep(EventId event, NodeId node, std::int64_t busy_ns);
  [[nodiscard]] auto start_of() const {
    return [this](GpuPosition at) { return table_.gpu_events()[at].start_ns; };
  }
  [[nodiscard]] std::uint32_t place_of(std::span<const GpuPosition> kernels);

  const Tree& tree_;
  const LaunchTable& table_;
  const AutogradWrappers& wrappers_;
  OpModels& models_;
  // First every position in tree order, which most rows are a part of; then lists in other orders.
  std::vector<GpuPosition> positions_;
  std::size_t last_ = 0;  // where the last of those begins
  std::size_t without_kernels_ = 0;
  std::vector<GpuPosition> scratch_;
};

}  // namespace tracelens
