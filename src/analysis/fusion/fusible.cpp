#include "analysis/fusion/fusible.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/ops/frame_names.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kFewestKernels = 3, kFewestMakers = 2, kLongestEpilogue = 2;
constexpr double kSmallestTensor = 1 << 20, kWorthwhile = 0.9;

bool is_link(const FusionKernel& kernel) {
  return kernel.is_modelled &&
         (kernel.role == KernelRole::kElementwise || kernel.role == KernelRole::kReduction ||
          kernel.role == KernelRole::kActivation || kernel.role == KernelRole::kCopy);
}
// What makes a chain of a run: copies and activations only take part in it.
bool makes_chain(const FusionKernel& kernel) {
  return kernel.role == KernelRole::kElementwise || kernel.role == KernelRole::kReduction;
}

std::vector<EventId> events_of(const FusionInput& input, std::span<const GpuPosition> kernels) {
  std::vector<EventId> events;
  for (const GpuPosition at : kernels) events.push_back(input.gpu(at).event);
  return events;
}

// Climbs from the op of each kernel as long as the op above launched kernels of the run alone.
std::vector<EventId> ops_of(const FusionInput& input, std::span<const GpuPosition> kernels) {
  const Tree& tree = input.tree();
  std::vector<GpuPosition> sorted{kernels.begin(), kernels.end()};
  std::ranges::sort(sorted);
  const auto is_within = [&](NodeId node) {
    const std::size_t count = tree.gpu_count(node);
    if (count > sorted.size()) return false;
    const GpuPosition first = input.ops().launches.first_position(node);
    const auto from = std::ranges::lower_bound(sorted, first);
    // Positions are distinct: as many of them as the op has are all of them.
    return static_cast<std::size_t>(
               std::ranges::lower_bound(from, sorted.end(),
                                        first + static_cast<GpuPosition>(count)) -
               from) == count;
  };
  std::vector<NodeId> ops;
  for (const GpuPosition at : kernels) {
    NodeId op = input[at].op;
    for (NodeId above = tree.nearest_op(op); above.valid() && is_within(above);
         above = tree.nearest_op(op))
      op = above;
    if (std::ranges::find(ops, op) == ops.end()) ops.push_back(op);
  }
  std::vector<EventId> events;
  for (const NodeId op : ops) events.push_back(tree.event(op));
  return events;
}

std::int64_t time_of(const FusionInput& input, std::span<const GpuPosition> kernels) {
  std::int64_t ns = 0;
  for (const GpuPosition at : kernels) ns = plus_ns(ns, input.dur_ns(at));
  return ns;
}

std::string unit_of(const FusionInput& input, NodeId module) {
  return module.valid() ? without_numbers(input.trace().name(input.tree().event(module)))
                        : std::string{};
}

class Runs {
 public:
  Runs(const FusionInput& input, double bytes_per_ns)
      : input_{input}, bytes_per_ns_{bytes_per_ns} {}

  std::vector<FusibleRun> find() {
    for (const std::vector<GpuPosition>& stream : input_.streams()) {
      for (const GpuPosition at : stream) {
        const FusionKernel& kernel = input_[at];
        if (kernel.role == KernelRole::kFill) continue;
        const bool is_in_run = is_link(kernel) && kernel.module.valid();
        if (!open_.empty()) {
          const FusionKernel& before = input_[open_.front()];
          if (!is_in_run || before.module != kernel.module || before.phase != kernel.phase) close();
        }
        if (is_in_run) open_.push_back(at);
      }
      close();
    }
    return std::move(found_);
  }

 private:
  void close() {
    if (open_.size() >= kFewestKernels) keep();
    open_.clear();
  }

  void keep() {
    std::size_t makers = 0;
    std::int64_t not_copies_ns = 0;
    double bytes = 0;
    for (const GpuPosition at : open_) {
      bytes += input_[at].bytes;
      makers += makes_chain(input_[at]);
      if (input_[at].role == KernelRole::kCopy) continue;
      not_copies_ns = plus_ns(not_copies_ns, input_.dur_ns(at));
    }
    const std::int64_t time_ns = time_of(input_, open_);
    if (makers < kFewestMakers ||
        2 * static_cast<double>(not_copies_ns) < static_cast<double>(time_ns))
      return;
    const FusedBytes fused = fused_bytes(input_, open_);
    const double fused_ns = fused.total / bytes_per_ns_;
    // Where the ops move hardly more than the fused kernel would, they do not share a tensor.
    if (fused.largest_tensor < kSmallestTensor || fused.total >= kWorthwhile * bytes ||
        !(fused_ns < kWorthwhile * static_cast<double>(time_ns)))
      return;
    const FusionKernel& first = input_[open_.front()];
    found_.push_back({.kernels = events_of(input_, open_),
                      .ops = ops_of(input_, open_),
                      .unit = unit_of(input_, first.module),
                      .module = first.module,
                      .phase = first.phase,
                      .time_ns = time_ns,
                      .fused_ns = std::llround(fused_ns),
                      .bytes = bytes,
                      .bytes_fused = fused.total});
    std::vector<std::string_view> names;
    for (const GpuPosition at : open_) names.push_back(input_.op_name(at));
    found_.back().pattern = pattern_of(found_.back().unit, names, first.phase);
  }

  const FusionInput& input_;
  double bytes_per_ns_;
  std::vector<GpuPosition> open_;
  std::vector<FusibleRun> found_;
};

// Whether the module, or the one around it, holds the other.
bool is_around(const Tree& tree, NodeId module, NodeId other) {
  if (!module.valid() || !other.valid()) return false;
  const auto holds = [&](NodeId around) {
    return around.valid() && around.row <= other.row && other.row < tree.end(around).row;
  };
  return holds(module) || holds(tree.nearest_module(module));
}

}  // namespace

std::vector<FusibleRun> fusible_runs(const FusionInput& input, double bytes_per_ns) {
  if (!(bytes_per_ns > 0)) return {};
  return Runs{input, bytes_per_ns}.find();
}

std::vector<Epilogue> epilogues(const FusionInput& input) {
  std::vector<Epilogue> found;
  std::vector<GpuPosition> after;
  for (const std::vector<GpuPosition>& stream : input.streams())
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const GpuPosition matrix = stream[i];
      const FusionKernel& product = input[matrix];
      if (product.role != KernelRole::kMatrix || !product.module.valid()) continue;
      const std::optional<double>& elements = product.result_elements;
      const auto continues = [&](GpuPosition at) {
        const FusionKernel& kernel = input[at];
        const bool is_elementwise =
            kernel.role == KernelRole::kElementwise || kernel.role == KernelRole::kActivation;
        if (!is_elementwise || kernel.phase != product.phase ||
            !is_around(input.tree(), kernel.module, product.module))
          return false;
        double most = 0;
        for (const TensorSize& tensor : input.tensors(at)) most = std::max(most, tensor.elements);
        return elements && most == *elements;
      };
      after.clear();
      for (std::size_t next = i + 1; next < stream.size() && continues(stream[next]); ++next) {
        after.push_back(stream[next]);
        if (after.size() > kLongestEpilogue) break;  // a chain of its own
      }
      if (after.empty() || after.size() > kLongestEpilogue) continue;
      found.push_back({.matrix = input.gpu(matrix).event,
                       .kernels = events_of(input, after),
                       .ops = ops_of(input, after),
                       .unit = unit_of(input, product.module),
                       .module = product.module,
                       .phase = product.phase,
                       .time_ns = time_of(input, after)});
    }
  return found;
}

}  // namespace tracelens
