// MOE-2: experts one after the other, each with products of its own.
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/product_loops.hpp"

namespace tracelens {
namespace moe_2 {

constexpr Number kNumbers[] = {
    {"least_pct", 2, "% of the window that mending saves"},
    {"least_turns", 8, "products of one shape in one call of a module that make a loop"},
    {"most_flops", 1e10, "FLOPs of a product that batching helps"},
    {"of_peak", 0.5, "of the matrix peak that grouped products reach"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft};
  double loops = 0, turns = 0;
  for (const ProductLoop& loop :
       product_loops(c, {.least_turns = static_cast<std::size_t>(n["least_turns"]),
                        .most_flops = n["most_flops"]})) {
    if (!loop.is_of_experts) continue;
    batch(c, loop, n["of_peak"], found);
    ++loops;
    turns += static_cast<double>(loop.turns);
  }
  if (loops == 0 || c.share(c.saving_ns(draft.edit)) < n["least_pct"]) return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "{} products of one shape for parts of a tensor, {} turns each: {} of GPU "
      "time a step, and the host launches every turn anew; as grouped products they would take "
      "about {}.",
      counted(derived("unified_perf_summary", "loops per step",
                      loops / static_cast<double>(c.steps()), ""),
              "loop a step runs", "loops a step run"),
      derived("unified_perf_summary", "turns per loop", turns / loops, ""), found.time(),
      found.time_left());
  draft.formula = "loops -> one turn with all the products' work";
  draft.tries = {"bmm over all experts where they get the same number of tokens",
                 "a grouped GEMM (torch._grouped_mm) or a fused MoE kernel where they do not"};
  draft.verify = {.table = "unified_perf_summary",
                  .column = "turns per loop",
                  .now = turns / loops,
                  .expected = "1",
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace moe_2

extern const Rule kMoe2;
constinit const Rule kMoe2 = {.id = "MOE-2",
                              .title = "Experts one after the other",
                              .numbers = moe_2::kNumbers,
                              .find = moe_2::find};

}  // namespace tracelens
