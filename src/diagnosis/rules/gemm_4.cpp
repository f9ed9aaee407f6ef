// GEMM-4: products whose last wave of tiles leaves most compute units without work.
#include <algorithm>
#include <cmath>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/gemm_tiles.hpp"

namespace tracelens {
namespace gemm_4 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time that the last waves lose"},
    {"most_filled", 0.8, "of the waves' places that have a tile: below counts"},
    {"slow_pct", 60, "% of the roof: products below are slow"},
};

bool splits_evenly(const DiagnosisContext& c, const OpUse& use) {
  return std::ranges::any_of(use.kernels, [&](EventId kernel) {
    return has_any(c.trace.name(kernel),
                   {"_SK1", "_SK2", "_SK3", "streamk", "stream_k", "segment_k", "splitK"});
  });
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const double units = compute_unit_count(c.trace);
  if (units <= 0) return std::nullopt;
  Draft draft;
  Collected found{c, draft};
  for (const OpGroup& group : c.op_groups()) {
    if (!is_product(group.category) || group.work == nullptr || group.roof == nullptr ||
        group.percent_of_roof() >= n["slow_pct"] || group.roof->bound == Bound::kMemory)
      continue;
    const OpUse& first = c.op_uses()[group.uses.front()];
    const double tiles = tiles_of(*group.work, tile_of(c, first));
    const double filled = tiles / (std::ceil(tiles / units) * units);
    if (tiles < units || filled >= n["most_filled"] || splits_evenly(c, first)) continue;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at])) found.scale(c.op_uses()[at], filled);
  }
  const std::int64_t lost = found.before_ns() - found.after_ns();
  if (found.uses() == 0 || c.busy_share(lost) < n["least_gpu_pct"]) return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "Matrix products that take {} a step, {} of the GPU's busy time, have a last wave of tiles "
      "that leaves most of the {} compute units without work; filled waves would take about {}.",
      found.time(), found.share(), derived("", "compute units of the GPU", units, ""),
      found.time_left());
  draft.formula = "products x tiles / (waves x compute units)";
  draft.tries = {"a batch, sequence or hidden size whose tiles fill the waves",
                 "kernels with other tiles, or stream-K"};
  draft.verify = found.verification();
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace gemm_4

extern const Rule kGemm4;
constinit const Rule kGemm4 = {.id = "GEMM-4",
                               .title = "Last waves of tiles",
                               .numbers = gemm_4::kNumbers,
                               .find = gemm_4::find};

}  // namespace tracelens
