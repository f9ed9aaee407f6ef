#include "analysis/serving/served_ops.hpp"

#include "analysis/ops/rates.hpp"
#include "analysis/ops/unified_ops.hpp"
#include "io/ascii.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

void ModelledWork::add(const ModelledWork& more) {
  ns = plus_ns(ns, more.ns);
  memory_bound_ns = plus_ns(memory_bound_ns, more.memory_bound_ns);
  compute_bound_ns = plus_ns(compute_bound_ns, more.compute_bound_ns);
  ns_of_bytes = plus_ns(ns_of_bytes, more.ns_of_bytes);
  flops += more.flops;
  bytes += more.bytes;
  compute_us += more.compute_us;
}

ServedOps::ServedOps(OpInput& input, const ServingRun& run) : input_{input} {
  const LaunchTable& launches = input.launches;
  const std::uint32_t communication = input.categories.id_of("communication");
  std::vector<ServedOp> by_position;
  for (const GpuEvent& gpu : launches.gpu_events())
    by_position.push_back({communication, gpu.name});
  for (const Launcher& part : launches.parts()) {
    const bool by_kernel = launches.is_only_a_launch(part, input.categories);
    for (const GpuPosition at : launches.own(part))
      by_position[at] = {part.category,
                         by_kernel ? by_position[at].name : input.trace.names()[part.event.row]};
  }
  ops_.reserve(run.work().size());
  for (const ServedWork& work : run.work()) {
    if (const NodeId node = input.tree.node(work.event); node.valid()) {
      ops_.push_back(by_position[launches.first_position(node)]);
    } else {  // without a launch
      const StringId kernel = input.trace.names()[work.event.row];
      ops_.push_back({input.categories.of_text("", kernel), kernel});
    }
  }
}

bool ServedOps::is_attention(std::uint32_t category) const {
  return io::contains_ignoring_case(text(category), "attention") ||
         io::contains_ignoring_case(text(category), "sdpa");
}

std::vector<ModelledWork> modelled_work(OpInput& input, const ServingRun& run) {
  std::vector<ModelledWork> by_step(run.steps().size() + 1);
  WorkFigures figures{input.models, input.options.gpu, input.options.peaks};
  const std::vector<UnifiedOp> ops = collect_unified_ops(input);
  for (const UnifiedOp& op : ops) {
    const std::span<const GpuPosition> kernels = input.ops.kernels(op.row);
    if (!op.answered || kernels.empty()) continue;
    const Work& work = *input.models[op.row.answer];
    const std::optional<Roof>& roof = figures.of(op.row.answer).roof;
    ModelledWork one{.ns = op.row.busy_ns, .flops = work.flops};
    if (work.bytes) {
      one.bytes = *work.bytes;
      one.ns_of_bytes = one.ns;
    }
    if (roof) {
      one.compute_us = roof->compute_us;
      (roof->bound == Bound::kMemory ? one.memory_bound_ns : one.compute_bound_ns) = one.ns;
    }
    by_step[run.step_of(input.launches.gpu_events()[kernels.front()].event)].add(one);
  }
  return by_step;
}

}  // namespace tracelens
