// GEMM-6: products too small for the GPU, one after the other, or with hardly any rows.
#include <algorithm>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/product_loops.hpp"

namespace tracelens {
namespace gemm_6 {

constexpr Number kNumbers[] = {
    {"least_pct", 2, "% of the window that mending saves"},
    {"least_turns", 8, "products of one shape in one call of a module that make a loop"},
    {"most_flops", 1e9, "FLOPs of a product that is small"},
    {"of_peak", 0.5, "of the matrix peak that the batched products reach"},
    {"most_rows", 16, "rows of a product that is skinny"},
    {"least_of_bandwidth", 0.7, "of the bandwidth: skinny products above are fast enough"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft};
  std::int64_t products = 0, in_loops = 0;
  for (const ProductLoop& loop :
       product_loops(c, {.least_turns = static_cast<std::size_t>(n["least_turns"]),
                        .most_flops = n["most_flops"]})) {
    if (loop.is_of_experts) continue;
    for (const std::uint32_t at : loop.uses) in_loops += is_product(c.op_uses()[at].category);
    batch(c, loop, n["of_peak"], found);
  }
  const auto bandwidth = c.reached_bandwidth();
  for (const OpGroup& group : c.op_groups()) {
    if (!is_product(group.category) || group.work == nullptr || !group.work->bytes || !bandwidth ||
        group.roof == nullptr || group.roof->bound != Bound::kMemory ||
        std::min(param_of(*group.work, "M"), param_of(*group.work, "N")) > n["most_rows"])
      continue;
    const double reached = group.terabytes_per_second() * 1e12 / *bandwidth;
    if (reached >= n["least_of_bandwidth"]) continue;
    for (const std::uint32_t at : group.uses) {
      const OpUse& use = c.op_uses()[at];
      if (!found.may_take(use)) continue;
      found.scale(use, reached / n["least_of_bandwidth"]);
      ++products;
    }
  }
  if (found.uses() == 0 || c.share(c.saving_ns(draft.edit)) < n["least_pct"]) return std::nullopt;
  found.finish();
  const auto steps = static_cast<double>(c.steps());
  if (in_loops >= products)
    draft.verdict = draft.tell(
        "{} in loops over products of one shape; batched, the "
        "loops' {} of GPU time a step become about {}, and their host time that of one turn.",
        counted(derived("unified_perf_summary", "products in loops per step",
                        static_cast<double>(in_loops) / steps, ""),
                "small matrix product a step stands", "small matrix products a step stand"),
        found.time(), found.time_left());
  else
    draft.verdict = draft.tell(
        "{} at most {} rows or columns and take {} a step; at the memory bandwidth they would take "
        "about {}.",
        counted(derived("unified_perf_summary", "skinny products per step",
                        static_cast<double>(products) / steps, ""),
                "matrix product a step has", "matrix products a step have"),
        derived("", "rows or columns, at most", n["most_rows"], ""), found.time(),
        found.time_left());
  draft.formula = "loops -> one turn with all the products' work; skinny products -> bandwidth";
  draft.tries = {"one product for all: stack the weights and use bmm, einsum or a wider Linear",
                 "fuse products of the same input (query, key and value; gate and up)",
                 "a larger batch when decoding"};
  draft.verify = found.verification();
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace gemm_6

extern const Rule kGemm6;
constinit const Rule kGemm6 = {.id = "GEMM-6",
                               .title = "Skinny or tiny GEMMs",
                               .numbers = gemm_6::kNumbers,
                               .find = gemm_6::find};

}  // namespace tracelens
