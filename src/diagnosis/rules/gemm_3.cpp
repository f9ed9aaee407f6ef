// GEMM-3: products whose result has fewer tiles than the GPU has compute units.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/gemm_tiles.hpp"

namespace tracelens {
namespace gemm_3 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in such products"},
    {"slow_pct", 50, "% of the roof: products below are slow"},
    {"target_pct", 60, "% of the roof that they should reach"},
    {"least_depth", 4, "times the larger side of the result that the sum is long"},
    {"least_flops", 1e9, "FLOPs that count whatever the depth"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const double units = compute_unit_count(c.trace);
  if (units <= 0) return std::nullopt;
  Draft draft;
  Collected found{c, draft};
  for (const OpGroup& group : c.op_groups()) {
    if (!is_product(group.category) || group.work == nullptr || group.roof == nullptr) continue;
    const Work& work = *group.work;
    const double side = std::max(param_of(work, "M"), param_of(work, "N"));
    if (param_of(work, "K") < n["least_depth"] * side && work.flops < n["least_flops"]) continue;
    const double reached = group.percent_of_roof();
    if (reached <= 0 || reached >= n["slow_pct"] ||
        tiles_of(work, tile_of(c, c.op_uses()[group.uses.front()])) >= units)
      continue;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at])) found.scale(c.op_uses()[at], reached / n["target_pct"]);
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "Matrix products whose result has fewer tiles than the GPU has compute units ({}) take {} a "
      "step, {} of the GPU's busy time; with all units at work they would take about {}.",
      derived("", "compute units of the GPU", units, ""), found.time(), found.share(),
      found.time_left());
  draft.formula = fmt::format("products -> {}% of the roof", n["target_pct"]);
  draft.tries = {"kernels that split the sum (split-K, stream-K): another library or its tuning",
                 "several such products as one batch"};
  draft.verify = found.verification();
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace gemm_3

extern const Rule kGemm3;
constinit const Rule kGemm3 = {
    .id = "GEMM-3", .title = "Too few tiles", .numbers = gemm_3::kNumbers, .find = gemm_3::find};

}  // namespace tracelens
