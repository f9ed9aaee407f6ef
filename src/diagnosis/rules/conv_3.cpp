// CONV-3: convolutions in fp32 without the matrix units, or by kernels of last resort.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace conv_3 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in such convolutions"},
    {"of_peak", 0.45, "of the TF32 peak that convolutions reach, layout conversions included"},
    {"fallback_factor", 0.5, "what is left of kernels of last resort"},
    {"most_of_roof_pct", 110, "% of the fp32 peak: who is faster does not run in fp32"},
};

bool any_kernel(const DiagnosisContext& c, const OpUse& use,
                std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(use.kernels,
                             [&](EventId kernel) { return has_any(c.trace.name(kernel), parts); });
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const auto peak = c.peak_flops("matrix_tf32"), peak32 = c.peak_flops("matrix_fp32");
  const auto bandwidth = c.reached_bandwidth();
  Draft draft;
  Collected found{c, draft};
  bool is_wide = false, falls_back = false;
  for (const OpUse& use : c.op_uses()) {
    if (!use.category.starts_with("CONV") || !found.may_take(use)) continue;
    const double now_us = static_cast<double>(use.busy_ns) / 1e3;
    if (any_kernel(c, use, {"naive_conv", "im2col", "Im3d2Col", "Im2d2Col"})) {
      found.scale(use, n["fallback_factor"]);
      falls_back = true;
    } else if (use.work != nullptr && use.work->compute_spec == "matrix_fp32" && peak && peak32 &&
               *peak > *peak32 && bandwidth && !any_kernel(c, use, {"tf32"}) &&
               use.percent_of_roof() < n["most_of_roof_pct"]) {
      const double seconds = std::max(use.work->flops / (n["of_peak"] * *peak),
                                      use.work->bytes.value_or(0) / *bandwidth);
      found.scale(use, std::min(1.0, seconds * 1e6 / now_us));
      is_wide = true;
    }
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "Convolutions {} take {} a step, {} of the GPU's busy time; {} they would take about {}.{}",
      is_wide ? "in fp32" : "by kernels of last resort", found.time(), found.share(),
      is_wide ? "in TF32" : "by others", found.time_left(),
      is_wide ? " Whether the accuracy allows it is for you to decide." : "");
  draft.formula = is_wide
                      ? fmt::format("convolutions at {:.0f}% of the TF32 peak", 100 * n["of_peak"])
                      : fmt::format("kernels x {}", n["fallback_factor"]);
  if (is_wide)
    draft.tries = {"torch.backends.cudnn.allow_tf32 = True",
                   "torch.autocast('cuda', dtype=torch.bfloat16)"};
  if (falls_back)
    draft.tries.emplace_back("a larger workspace, or torch.backends.cudnn.benchmark = True");
  draft.verify = found.verification();
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace conv_3

extern const Rule kConv3;
constinit const Rule kConv3 = {.id = "CONV-3",
                               .title = "Convolutions in fp32 or by fallback kernels",
                               .numbers = conv_3::kNumbers,
                               .find = conv_3::find};

}  // namespace tracelens
