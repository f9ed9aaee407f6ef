// GEMM-1: matrix products far from what the GPU reaches in this very run.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace gemm_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 1, "% of the GPU's busy time that the products lose"},
    {"target_pct", 60, "% of the roof that products are expected to reach"},
    {"most_target_pct", 70, "the same at most, where the run has faster ones"},
    {"high_pct", 87.5, "% of the roof of the high estimate"},
    {"least_us", 10, "us of a product that counts; smaller ones are bound by launching"},
    {"peer_us", 50, "us of a product that others are measured by"},
};
constexpr double kBelievable = 110;  // percent of a roof; above, the model does not fit

// Power and clocks limit what any kernel reaches: the run's own best is the bar.
double target_of(const DiagnosisContext& c, const OpGroup& group, const Numbers& n) {
  if (group.roof->bound == Bound::kMemory) return n["target_pct"];
  double best = 0;
  for (const OpGroup& other : c.op_groups())
    if (is_product(other.category) && other.work != nullptr && other.roof != nullptr &&
        other.work->compute_spec == group.work->compute_spec &&
        other.work->flops * 4 >= group.work->flops &&
        static_cast<double>(other.mean_ns()) >= n["peer_us"] * 1e3 &&
        other.percent_of_roof() <= kBelievable)
      best = std::max(best, other.percent_of_roof());
  return best > 0 ? std::min(n["most_target_pct"], best) : n["target_pct"];
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft};
  for (const OpGroup& group : c.op_groups()) {
    if (!is_product(group.category) || group.work == nullptr || group.roof == nullptr ||
        static_cast<double>(group.mean_ns()) < n["least_us"] * 1e3)
      continue;
    const double reached = group.percent_of_roof(), target = target_of(c, group, n);
    if (reached >= target) continue;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at])) found.scale(c.op_uses()[at], reached / target);
  }
  const std::int64_t lost = found.before_ns() - found.after_ns();
  if (found.uses() == 0 || c.busy_share(lost) < n["least_gpu_pct"]) return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "Matrix products that take {} a step, {} of the GPU's busy time, are below what such products "
      "reach; at that rate they would take {}.",
      found.time(), found.share(), found.time_left());
  draft.formula = fmt::format(
      "products -> {}% of the roof (bound by memory), the run's own best up to {}% (by computing)",
      n["target_pct"], n["most_target_pct"]);
  draft.tries = {"another library or a newer one; tuning of its choice of kernels",
                 "tracelens replay measures single products",
                 "other sizes: batch, sequence or hidden size in multiples of 64 or 128"};
  draft.verify = found.verification();
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace gemm_1

extern const Rule kGemm1;
constinit const Rule kGemm1 = {.id = "GEMM-1",
                               .title = "Low GEMM efficiency",
                               .numbers = gemm_1::kNumbers,
                               .find = gemm_1::find};

}  // namespace tracelens
