// ATTN-2: fused attention below what is usual for the length of its keys.
#include "diagnosis/kit/attention.hpp"
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in slow attention"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft};
  for (const OpGroup& group : c.op_groups()) {
    if ((!group.category.starts_with("SDPA") &&
         !group.category.starts_with("InferenceAttention")) ||
        group.work == nullptr || group.roof == nullptr || param_of(*group.work, "N_KV") <= 0)
      continue;
    const double usual = 100 * attention_efficiency(param_of(*group.work, "N_KV")) *
                         (group.category.ends_with("bwd") ? kBackwardAttention : 1);
    const double reached = group.percent_of_roof();
    if (reached <= 0 || reached >= usual) continue;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at])) found.scale(c.op_uses()[at], reached / usual);
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "Fused attention takes {} a step, {} of the GPU's busy time, below what is usual for keys of "
      "this length; at the usual rate it would take about {}.",
      found.time(), found.share(), found.time_left());
  draft.formula = "attention -> the usual share of the roof for its keys, 5% (512) to 50% (4096)";
  draft.tries = {"another backend (torch.nn.attention.sdpa_kernel)",
                 "a head size that is a multiple of 64, at most 128",
                 "a layout that the kernel takes without copies"};
  draft.verify = found.verification();
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace

extern const Rule kAttn2;
constinit const Rule kAttn2 = {.id = "ATTN-2",
                               .title = "Fused attention below expectation",
                               .numbers = kNumbers,
                               .find = find};

}  // namespace tracelens
