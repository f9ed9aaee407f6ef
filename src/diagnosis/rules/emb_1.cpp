// EMB-1: gathers, scatters, embeddings, sorts.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace emb_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 3, "% of the GPU's busy time in such ops"},
    {"factor", 0.7, "what is left of them"},
    {"good_pct", 50, "% of the roof: ops with a model above are fast enough"},
};

bool is_lookup(const OpGroup& group) {
  return group.category == "Indexing" || group.category == "Sorting" ||
         (has_any(group.name, {"index", "gather", "scatter", "embedding", "aten::sort", "topk"}) &&
          !has_any(group.name, {"rotary", "matmul", "gemm"}));
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft, {.low = 0.5, .high = 1.5}};
  for (const OpGroup& group : c.op_groups()) {
    if (!is_lookup(group) || is_product(group.category) || group.percent_of_roof() >= n["good_pct"])
      continue;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at])) found.scale(c.op_uses()[at], n["factor"]);
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "Gathers, scatters, embeddings and sorts take {} a step, {} of the GPU's busy time.",
      found.time(), found.share());
  draft.formula = fmt::format("those ops x {}, a rule of thumb", n["factor"]);
  draft.tries = {"sorted indices, so that neighbours read the same rows",
                 "sparse gradients for large embeddings", "a fused lookup of the library"};
  draft.verify = {.table = "unified_perf_summary",
                  .column = "share of busy time",
                  .now = c.busy_share(found.before_ns()),
                  .expected = "less",
                  .is_derived = true};
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace emb_1

extern const Rule kEmb1;
constinit const Rule kEmb1 = {.id = "EMB-1",
                              .title = "Gathers, scatters, embeddings",
                              .numbers = emb_1::kNumbers,
                              .find = emb_1::find};

}  // namespace tracelens
