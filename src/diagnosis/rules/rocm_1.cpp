// ROCM-1: copies and fills by the runtime's old kernels.
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/kernel_share.hpp"

namespace tracelens {
namespace rocm_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 3, "% of the GPU's busy time in such kernels"},
};

bool is_legacy(std::string_view name) {
  return has_any(name, {"__amd_rocclr_copyBuffer", "__amd_rocclr_fillBuffer"});
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft, {.low = 0.5}};
  const std::int64_t time = scale_kernels(c, is_legacy, 0, found, draft);
  if (time == 0 || c.busy_share(time) < n["least_gpu_pct"]) return std::nullopt;
  draft.verdict = draft.tell(
      "Copies and fills by the runtime's own kernels take {} a step, {} of the GPU's busy time; "
      "libraries that clear their workspace launch them.",
      derived("kernel_summary", "time per step", in_ms(c.per_step(time)), "ms"),
      derived("kernel_summary", "share of busy time", c.busy_share(time), "%"));
  draft.formula = "those kernels -> 0 (low: half)";
  draft.tries = {"avoid fills with zero where the next op writes everything",
                 "fewer and larger copies, which the copy engines do"};
  draft.verify = {.table = "kernel_summary",
                  .column = "share of busy time",
                  .now = c.busy_share(time),
                  .expected = "< 3",
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace rocm_1

extern const Rule kRocm1;
constinit const Rule kRocm1 = {.id = "ROCM-1",
                               .title = "Copies and fills by the runtime's kernels",
                               .numbers = rocm_1::kNumbers,
                               .find = rocm_1::find};

}  // namespace tracelens
