#include "analysis/ops/measured_ops.hpp"

#include <algorithm>
#include <numeric>

namespace tracelens {
namespace {

// GPU positions that lists in an order of their own may hold in all. Ops are nested a few levels
// deep; what nests without end must not take memory without end.
constexpr std::size_t kRoomPerEvent = 64, kRoom = 1'000'000;

}  // namespace

MeasuredOps::MeasuredOps(const Tree& tree, const LaunchTable& table,
                         const AutogradWrappers& wrappers, OpModels& models)
    : tree_{tree},
      table_{table},
      wrappers_{wrappers},
      models_{models},
      positions_(table.gpu_events().size()),
      last_{positions_.size()} {
  std::iota(positions_.begin(), positions_.end(), GpuPosition{0});
}

// A row of the GPU events in scratch_.
OpRow MeasuredOps::keep(EventId event, NodeId node, std::int64_t busy_ns) {
  return {.event = event,
          .node = node,
          .busy_ns = busy_ns,
          .first = place_of(scratch_),
          .count = static_cast<std::uint32_t>(scratch_.size())};
}

std::uint32_t MeasuredOps::place_of(std::span<const GpuPosition> kernels) {
  if (kernels.empty()) return 0;
  const auto follows = [](GpuPosition a, GpuPosition b) { return b != a + 1; };
  if (std::ranges::adjacent_find(kernels, follows) == kernels.end()) return kernels.front();
  // Ops nested in each other have the same kernels time and again.
  if (!std::ranges::equal(std::span{positions_}.subspan(last_), kernels)) {
    const std::size_t gpu_events = table_.gpu_events().size();
    if (positions_.size() + kernels.size() >
        std::min<std::size_t>(kNoRoom, kRoomPerEvent * gpu_events + kRoom)) {
      ++without_kernels_;
      return kNoRoom;
    }
    last_ = positions_.size();
    positions_.insert(positions_.end(), kernels.begin(), kernels.end());
  }
  return static_cast<std::uint32_t>(last_);
}

OpRow MeasuredOps::plain(EventId event, NodeId node, std::span<const GpuPosition> kernels) {
  scratch_.assign(kernels.begin(), kernels.end());
  return keep(event, node, table_.busy_ns(kernels));
}

OpRow MeasuredOps::forward(EventId event) {
  const NodeId node = tree_.node(event);
  OpRow row{.event = event, .node = node};
  if (node.valid() && table_.is_by_start(node)) {
    row.busy_ns = table_.busy_ns(node);
    row.first = table_.first_position(node);
    row.count = static_cast<std::uint32_t>(tree_.gpu_count(node));
    row.answer = models_.ask(event, Pass::kForward, kernels(row));
    return row;
  }
  scratch_.clear();
  if (node.valid()) {
    scratch_.resize(tree_.gpu_count(node));
    std::iota(scratch_.begin(), scratch_.end(), table_.first_position(node));
    std::ranges::stable_sort(scratch_, {}, start_of());
    row = keep(event, node, table_.busy_ns(node));
  }
  row.answer = models_.ask(event, Pass::kForward, scratch_);
  return row;
}

OpRow MeasuredOps::backward(EventId event) {
  const NodeId node = tree_.node(event);
  scratch_.clear();
  const auto take = [&](EventId wrapper) {
    const NodeId top = tree_.node(wrapper);
    if (!top.valid()) return;
    const GpuPosition first = table_.first_position(top);
    for (GpuPosition at = first; at < first + tree_.gpu_count(top); ++at) scratch_.push_back(at);
  };
  if (node.valid()) {
    for (const auto& [forward, wrapper] : wrappers_.of(node)) take(wrapper);
  } else {
    for (const EventId wrapper : tree_.backward_of(event)) take(wrapper);
  }
  std::ranges::stable_sort(scratch_, {}, start_of());
  OpRow row = keep(event, node, table_.busy_ns(std::span<const GpuPosition>{scratch_}));
  row.answer = models_.ask(event, Pass::kBackward, scratch_);
  return row;
}

void MeasuredOps::add_kernels(const OpRow& row, KernelStats& stats) const {
  const std::span<const GpuPosition> positions = kernels(row);
  stats.add(
      positions.size(), [&](std::size_t i) { return table_.gpu_events()[positions[i]].use(); },
      row.first);
}

}  // namespace tracelens
