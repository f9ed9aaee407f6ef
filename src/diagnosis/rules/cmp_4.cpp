// CMP-4: work that only this run does.
#include <fmt/format.h>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/cmp_changes.hpp"

namespace tracelens {
namespace cmp_4 {

constexpr Number kNumbers[] = {
    {"least_pct", 1, "% of the window that an op or module takes"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  CmpLosses losses = losses_of_kind(c, CmpChange::Kind::kOnlyHere, n["least_pct"]);
  if (losses.count == 0) return std::nullopt;
  Draft draft = std::move(losses.draft);
  draft.verdict = draft.tell(
      "{} no counterpart in the other run, {} in all; what that one does in their place takes {}.",
      counted(derived("ops_diff", "kernels_trace1 of these", losses.kernels, ""), "GPU event has",
              "GPU events have"),
      derived("ops_diff", "time_trace1 of these", in_ms(losses.ns), "ms"),
      derived("ops_diff", "time_trace2 of these", in_ms(losses.other_ns), "ms"));
  draft.formula = "work of this run alone -> the time of work of the other alone";
  draft.tries = {"leave it out, if the other run gives the same results"};
  draft.verify = {.table = "ops_diff",
                  .column = "time_trace1 of these",
                  .now = in_ms(losses.ns),
                  .expected = fmt::format("about {}", figure(in_ms(losses.other_ns), "ms")),
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace cmp_4

extern const Rule kCmp4;
constinit const Rule kCmp4 = {.id = "CMP-4",
                              .title = "Work that only this run does",
                              .numbers = cmp_4::kNumbers,
                              .find = cmp_4::find};

}  // namespace tracelens
