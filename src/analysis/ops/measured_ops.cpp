#include "analysis/ops/measured_ops.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace tracelens {
namespace {

constexpr std::string_view kWrapper = "autograd::engine::evaluate_function:";

}  // namespace

MeasuredOps::MeasuredOps(const Trace& trace, const Tree& tree, LaunchTable& table, OpModels& models)
    : trace_{trace},
      tree_{tree},
      table_{table},
      models_{models},
      is_wrapper_name_(trace.string_count()) {
  bool any = false;
  for (std::uint32_t id = 0; id < is_wrapper_name_.size(); ++id)
    if (trace.text({id}).starts_with(kWrapper)) any = (is_wrapper_name_[id] = 1) != 0;
  if (!any) return;
  for (std::uint32_t row = 0; row < trace.size(); ++row) {
    if (is_wrapper_name_[trace.names()[row].row] == 0) continue;
    const EventId forward = tree.forward_of({row});
    if (!forward.valid()) continue;
    if (const NodeId node = tree.node(forward); node.valid())
      wrappers_.emplace_back(node.row, EventId{row});
  }
  std::ranges::sort(wrappers_);  // those of one op in file order
}

EventId MeasuredOps::forward_of_wrapper(EventId wrapper) const {
  if (is_wrapper_name_[trace_.names()[wrapper.row].row] == 0) return {};
  return tree_.forward_of(wrapper);
}

// Moves scratch_ into a row.
OpRow MeasuredOps::keep(EventId event, NodeId node) {
  const OpRow row{.event = event,
                  .node = node,
                  .busy_ns = table_.busy_ns(std::span<const GpuPosition>{scratch_}),
                  .first = static_cast<std::uint32_t>(positions_.size()),
                  .count = static_cast<std::uint32_t>(scratch_.size())};
  positions_.insert(positions_.end(), scratch_.begin(), scratch_.end());
  return row;
}

OpRow MeasuredOps::plain(EventId event, NodeId node, std::span<const GpuPosition> kernels) {
  scratch_.assign(kernels.begin(), kernels.end());
  return keep(event, node);
}

OpRow MeasuredOps::forward(EventId event) {
  const NodeId node = tree_.node(event);
  scratch_.clear();
  if (node.valid()) {
    scratch_.resize(tree_.gpu_count(node));
    std::iota(scratch_.begin(), scratch_.end(), table_.first_position(node));
  }
  const auto start_of = [&](GpuPosition at) { return table_.gpu_events()[at].start_ns; };
  if (!std::ranges::is_sorted(scratch_, {}, start_of))
    std::ranges::stable_sort(scratch_, {}, start_of);
  OpRow row = keep(event, node);
  row.answer = models_.ask(event, Pass::kForward, kernels(row));
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
  const auto start_of = [&](GpuPosition at) { return table_.gpu_events()[at].start_ns; };
  std::ranges::stable_sort(scratch_, {}, start_of);
  OpRow row = keep(event, node);
  row.answer = models_.ask(event, Pass::kBackward, kernels(row));
  return row;
}

void MeasuredOps::add_kernels(const OpRow& row, KernelStats& stats) {
  uses_.clear();
  for (const GpuPosition position : kernels(row))
    uses_.push_back(table_.gpu_events()[position].use());
  stats.add(uses_);
}

}  // namespace tracelens
