// ATTN-2: fused attention below what is usual for the length of its keys, or with a mask of its own
// where the kernel could leave out the half that a causal mask hides.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/kit/attention.hpp"
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace attn_2 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in slow attention"},
    {"masked", 0.5, "what is left of attention when its mask is told to be causal"},
};

// One mask for all, as wide as high: most often it is causal.
bool has_square_mask(const Signature& arguments) {
  if (!arguments.dims.is_sequence()) return false;
  for (const Value& dims : arguments.dims.items())
    if (dims.is_sequence() && dims.items().size() == 2 && dims.items()[0].is_number() &&
        dims.items()[0].as_real() > 1 && dims.items()[1].is_number() &&
        dims.items()[0].as_real() == dims.items()[1].as_real())
      return true;
  return false;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft};
  std::int64_t masked = 0;
  for (const OpGroup& group : c.op_groups()) {
    if ((!group.category.starts_with("SDPA") &&
         !group.category.starts_with("InferenceAttention")) ||
        group.work == nullptr || group.roof == nullptr || param_of(*group.work, "N_KV") <= 0)
      continue;
    const double usual = 100 * attention_efficiency(param_of(*group.work, "N_KV")) *
                         (group.category.ends_with("bwd") ? kBackwardAttention : 1);
    const double reached = group.percent_of_roof();
    const bool is_masked = group.category.starts_with("SDPA") && group.signature.valid() &&
                           has_square_mask(c.trace.signature(group.signature));
    double factor = reached > 0 && reached < usual ? reached / usual : 1;
    if (is_masked) factor = std::min(factor, n["masked"]);
    if (factor >= 1) continue;
    if (is_masked) masked += group.busy_ns;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at])) found.scale(c.op_uses()[at], factor);
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  const bool by_mask = 2 * masked > found.before_ns();
  draft.verdict = draft.tell(
      "Fused attention takes {} a step, {} of the GPU's busy time, {}; {} it would take about {}.",
      found.time(), found.share(),
      by_mask ? "with a mask that is read for every query"
              : "below what is usual for keys of this length",
      by_mask ? "if that mask is causal and the kernel is told so," : "at the usual rate",
      found.time_left());
  draft.formula = fmt::format(
      "attention -> the usual share of the roof for its keys, 5% (512) to 50% (4096); with a square "
      "mask x {}",
      n["masked"]);
  if (masked > 0) draft.tries.push_back("is_causal=True instead of a mask that hides the future");
  for (const char* const other : {"another backend (torch.nn.attention.sdpa_kernel)",
                                  "a head size that is a multiple of 64, at most 128",
                                  "a layout that the kernel takes without copies"})
    draft.tries.emplace_back(other);
  draft.verify = found.verification();
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace attn_2

extern const Rule kAttn2;
constinit const Rule kAttn2 = {.id = "ATTN-2",
                               .title = "Fused attention below expectation",
                               .numbers = attn_2::kNumbers,
                               .find = attn_2::find};

}  // namespace tracelens
