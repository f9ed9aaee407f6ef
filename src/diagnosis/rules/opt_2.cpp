// OPT-2: the optimizer is fused already, and still a large part of the GPU's time.
#include <string>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace opt_2 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 15, "% of the GPU's busy time in the optimizer"},
    {"most_kernels", 100, "kernels of the optimizer per step; more are of OPT-1"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (c.ranges().optimizer().empty()) return std::nullopt;
  std::int64_t gpu = 0, kernels = 0;
  for (const EventId event : c.gpu_events())
    if (const EventId call = c.tree().launch_of(event);
        call.valid() &&
        in_ranges(c.ranges().optimizer(), c.trace.tracks()[call.row], c.trace.ts_ns()[call.row])) {
      gpu += c.dur_ns(event);
      ++kernels;
    }
  const double share = c.busy_share(gpu);
  const double per_step = static_cast<double>(kernels) / static_cast<double>(c.steps());
  if (share < n["least_gpu_pct"] || per_step >= n["most_kernels"]) return std::nullopt;
  Draft draft;
  draft.verdict = draft.tell(
      "The optimizer, with {} a step, takes {} a step, {} of the GPU's busy time.",
      counted(proof("step_phases", "optimizer_kernels", per_step, "", {{"step", "mean"}}), "kernel",
              "kernels"),
      proof("step_phases", "optimizer_gpu_ms", in_ms(c.per_step(gpu)), "ms", {{"step", "mean"}}),
      derived("gpu_timeline", "optimizer of busy time", share, "%"));
  draft.formula = "for information";
  draft.where = {{.kind = "range",
                  .name = std::string{c.trace.name(c.ranges().optimizer().front().event)},
                  .time_ns = gpu,
                  .count = kernels}};
  draft.tries = {"larger batches, or gradients of several batches for each step of the optimizer",
                 "shard the optimizer's state over the ranks (ZeRO, FSDP)",
                 "states in 16 or 8 bits"};
  draft.verify = {.table = "step_phases",
                  .column = "optimizer_gpu_ms",
                  .now = in_ms(c.per_step(gpu)),
                  .expected = "less",
                  .key = {{"step", "mean"}}};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace opt_2

extern const Rule kOpt2;
constinit const Rule kOpt2 = {.id = "OPT-2",
                              .title = "Share of the optimizer",
                              .numbers = opt_2::kNumbers,
                              .find = opt_2::find};

}  // namespace tracelens
