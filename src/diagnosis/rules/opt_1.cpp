// OPT-1: the optimizer works tensor by tensor, with hundreds of small kernels.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/kit/shapes.hpp"

namespace tracelens {
namespace opt_1 {

constexpr Number kNumbers[] = {
    {"least_kernels", 100, "kernels of the optimizer per step"},
    {"least_pct", 2, "% of the window that mending saves"},
    {"least_gpu_pct", 3, "% of the GPU's busy time in the optimizer, where it saves less"},
    {"host_factor", 0.1, "what is left of the optimizer's host time"},
    {"foreach_factor", 0.5, "the same where it works by lists of tensors already"},
    {"bytes_per_element", 28, "bytes that a fused Adam moves: reads p, g, m, v, writes p, m, v"},
    {"of_bandwidth", 0.7, "of the bandwidth that a fused kernel reaches"},
    {"gpu_factor", 0.5, "what is left of its GPU time where the elements are not known"},
};

struct OptimizerWork {
  std::vector<EventId> kernels;
  std::int64_t gpu_ns = 0, host_ns = 0, steps = 0;
  std::size_t ops = 0, lists = 0;
  bool is_fused = false;
  double elements = 0;
};

bool is_in(const DiagnosisContext& c, EventId event) {
  return in_ranges(c.ranges().optimizer(), c.trace.tracks()[event.row], c.trace.ts_ns()[event.row]);
}

OptimizerWork work_of(const DiagnosisContext& c) {
  OptimizerWork work;
  for (const HostRange& range : c.ranges().optimizer())
    if (c.in_window(range.start_ns)) work.host_ns += range.end_ns - range.start_ns, ++work.steps;
  if (work.steps == 0) return work;
  for (const EventId event : c.gpu_events()) {
    const EventId call = c.tree().launch_of(event);
    if (!call.valid() || !is_in(c, call) || !c.is_free(event)) continue;
    work.kernels.push_back(event);
    work.gpu_ns += c.dur_ns(event);
  }
  for (const EventId event : c.trace.recorded_events()) {
    if (c.trace.category(event) != Category::kCpuOp || !c.in_window(c.trace.ts_ns()[event.row]) ||
        !is_in(c, event))
      continue;
    const std::string_view name = c.trace.name(event);
    ++work.ops;
    work.lists += name.find("_foreach_") != name.npos;
    work.is_fused |= name.find("_fused_") != name.npos;
    const SignatureId signature = c.trace.signatures()[event.row];
    if (signature.valid() && name == "aten::addcdiv_")
      work.elements += elements_of(c.trace.signature(signature), 0);
  }
  return work;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const OptimizerWork work = work_of(c);
  if (work.steps == 0 || work.is_fused) return std::nullopt;
  const double kernels = static_cast<double>(work.kernels.size()) / static_cast<double>(c.steps());
  if (kernels < n["least_kernels"]) return std::nullopt;

  Draft draft;
  const bool by_lists = work.lists * 2 > work.ops;
  const double host_factor = n[by_lists ? "foreach_factor" : "host_factor"];
  for (const HostRange& range : c.ranges().optimizer())
    if (c.in_window(range.start_ns))
      draft.edit.scale_host(range.track, range.start_ns, range.end_ns, host_factor);
  double gpu_factor = n["gpu_factor"];
  if (const auto bandwidth = c.bandwidth(); bandwidth && work.elements > 0)
    gpu_factor =
        std::min(1.0, work.elements * n["bytes_per_element"] / (n["of_bandwidth"] * *bandwidth) *
                          1e9 / static_cast<double>(std::max<std::int64_t>(1, work.gpu_ns)));
  for (const EventId kernel : work.kernels) draft.edit.scale_gpu(kernel, gpu_factor);
  if (c.share(c.saving_ns(draft.edit)) < n["least_pct"] &&
      c.busy_share(work.gpu_ns) < n["least_gpu_pct"])
    return std::nullopt;

  draft.verdict = draft.tell(
      "The optimizer launches {} a step, tensor by tensor; that takes {} of host time and "
      "{} of GPU time a step.",
      counted(proof("step_phases", "optimizer_kernels", kernels, "", {{"step", "mean"}}), "kernel",
              "kernels"),
      proof("step_phases", "optimizer_host_ms", in_ms(c.per_step(work.host_ns)), "ms",
            {{"step", "mean"}}),
      proof("step_phases", "optimizer_gpu_ms", in_ms(c.per_step(work.gpu_ns)), "ms",
            {{"step", "mean"}}));
  draft.formula = fmt::format("its host time x {}, its kernels x {:.2g}", host_factor, gpu_factor);
  const HostRange& first = c.ranges().optimizer().front();
  draft.where = {{.kind = "range",
                  .name = std::string{c.trace.name(first.event)},
                  .python = c.python_line(first.event),
                  .time_ns = work.host_ns,
                  .count = work.steps}};
  draft.tries = {"fused=True in the optimizer's arguments",
                 "foreach=True where there is no fused one",
                 "torch.compile of the optimizer's step"};
  draft.verify = {.table = "step_phases",
                  .column = "optimizer_kernels",
                  .now = kernels,
                  .expected = "< 20",
                  .key = {{"step", "mean"}}};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace opt_1

extern const Rule kOpt1;
constinit const Rule kOpt1 = {
    .id = "OPT-1", .title = "Optimizer not fused", .numbers = opt_1::kNumbers, .find = opt_1::find};

}  // namespace tracelens
