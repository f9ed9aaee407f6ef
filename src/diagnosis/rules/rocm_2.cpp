// ROCM-2: kernels of autotuning, or of last resort.
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/kernel_share.hpp"

namespace tracelens {
namespace rocm_2 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 1, "% of the GPU's busy time in such kernels"},
};

bool is_tuning(std::string_view name) {
  return has_any(name, {"redzone_checker", "naive_conv"}) ||
         (name.starts_with("Cijk_") && has_text(name, "fallback"));
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft, {.low = 0.5}};
  const std::int64_t time = scale_kernels(c, is_tuning, 0, found, draft);
  if (time == 0 || c.busy_share(time) < n["least_gpu_pct"]) return std::nullopt;
  draft.verdict = draft.tell(
      "Kernels of autotuning or of last resort take {} a step, {} of the GPU's busy time.",
      derived("kernel_summary", "time per step", in_ms(c.per_step(time)), "ms"),
      derived("kernel_summary", "share of busy time", c.busy_share(time), "%"));
  draft.formula = "those kernels -> 0 (low: half)";
  draft.tries = {"run a few steps before recording, so that tuning is over",
                 "keep the tuning database (MIOPEN_USER_DB_PATH) between runs"};
  draft.verify = {.table = "kernel_summary",
                  .column = "share of busy time",
                  .now = c.busy_share(time),
                  .expected = "0",
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace rocm_2

extern const Rule kRocm2;
constinit const Rule kRocm2 = {.id = "ROCM-2",
                               .title = "Autotuning or fallback kernels",
                               .numbers = rocm_2::kNumbers,
                               .find = rocm_2::find};

}  // namespace tracelens
