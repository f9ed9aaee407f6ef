// CMP-1: work that both runs do, and that takes longer here.
#include <fmt/format.h>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/cmp_changes.hpp"

namespace tracelens {
namespace cmp_1 {

constexpr Number kNumbers[] = {
    {"least_pct", 1, "% of the window that an op or module loses"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  CmpLosses losses = losses_of_kind(c, CmpChange::Kind::kSlower, n["least_pct"]);
  if (losses.count == 0) return std::nullopt;
  Draft draft = std::move(losses.draft);
  draft.verdict = draft.tell(
      "The same work takes {} here and {} in the other run, in as many steps{}.",
      derived("ops_diff", "time_trace1 of these", in_ms(losses.ns), "ms"),
      losses.is_capped
          ? derived("ops_diff", "time_trace2, roofline cap", in_ms(losses.other_ns), "ms")
          : derived("ops_diff", "time_trace2 of these", in_ms(losses.other_ns), "ms"),
      losses.is_capped ? " (roofline cap: this GPU cannot do some of it as fast)" : "");
  draft.formula = "these kernels -> their time in the other run, never below this GPU's roof";
  draft.tries = {"look at the kernels of both: tracelens diff",
                 "the same library, versions, layouts and types as in the other run"};
  draft.verify = {.table = "ops_diff",
                  .column = "time_trace1 of these",
                  .now = in_ms(losses.ns),
                  .expected = fmt::format("about {}", figure(in_ms(losses.other_ns), "ms")),
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace cmp_1

extern const Rule kCmp1;
constinit const Rule kCmp1 = {.id = "CMP-1",
                              .title = "Slower than in the other run",
                              .numbers = cmp_1::kNumbers,
                              .find = cmp_1::find};

}  // namespace tracelens
