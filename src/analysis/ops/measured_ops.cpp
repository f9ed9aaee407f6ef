#include "analysis/ops/measured_ops.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace tracelens {
namespace {

constexpr std::string_view kWrapper = "autograd::engine::evaluate_function:";

// GPU positions that lists in an order of their own may hold in all. Ops are nested a few levels
// deep; what nests without end must not take memory without end.
constexpr std::size_t kRoomPerEvent = 64, kRoom = 1'000'000;

}  // namespace

MeasuredOps::MeasuredOps(const Trace& trace, const Tree& tree, const LaunchTable& table,
                         OpModels& models)
    : trace_{trace},
      tree_{tree},
      table_{table},
      models_{models},
      is_wrapper_name_(trace.string_count()),
      positions_(table.gpu_events().size()) {
  std::iota(positions_.begin(), positions_.end(), GpuPosition{0});
  last_ = positions_.size();
  for (std::uint32_t id = 0; id < is_wrapper_name_.size(); ++id)
    is_wrapper_name_[id] = trace.text({id}).starts_with(kWrapper) ? 1 : 0;
  for (const EventId event : tree.backward_events()) {
    if (is_wrapper_name_[trace.names()[event.row].row] == 0) continue;
    if (const NodeId node = tree.node(tree.forward_of(event)); node.valid())
      wrappers_.emplace_back(node.row, event);
  }
  std::ranges::sort(wrappers_);  // those of one op in file order
}

EventId MeasuredOps::forward_of_wrapper(EventId wrapper) const {
  if (is_wrapper_name_[trace_.names()[wrapper.row].row] == 0) return {};
  return tree_.forward_of(wrapper);
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
    auto link = std::ranges::lower_bound(wrappers_, node.row, {},
                                         &std::pair<std::uint32_t, EventId>::first);
    for (; link != wrappers_.end() && link->first < tree_.end(node).row; ++link) take(link->second);
  } else {
    for (const EventId wrapper : tree_.backward_of(event)) take(wrapper);
  }
  std::ranges::stable_sort(scratch_, {}, start_of());
  OpRow row = keep(event, node, table_.busy_ns(std::span<const GpuPosition>{scratch_}));
  row.answer = models_.ask(event, Pass::kBackward, scratch_);
  return row;
}

void MeasuredOps::add_kernels(const OpRow& row, KernelStats& stats) {
  const std::span<const GpuPosition> positions = kernels(row);
  if (!stats.wants(positions.size(), row.first)) return;
  uses_.clear();
  for (const GpuPosition position : positions) uses_.push_back(table_.gpu_events()[position].use());
  stats.add(uses_, row.first);
}

}  // namespace tracelens
