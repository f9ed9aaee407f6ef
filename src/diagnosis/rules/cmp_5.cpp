// CMP-5: a step takes longer than in the other run. For information, and for gates: the causes are
// findings of their own.
#include <fmt/format.h>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace cmp_5 {

constexpr Number kNumbers[] = {
    {"least_pct", 1, "% that a step takes longer than in the other run"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const DiagnosisContext* const other = c.other();
  if (other == nullptr || other->length_ns() <= 0) return std::nullopt;
  const std::int64_t here = c.per_step(c.length_ns()), there = other->per_step(other->length_ns());
  const double longer = percentage(here - there, there);
  if (longer <= n["least_pct"]) return std::nullopt;
  Draft draft;
  draft.verdict = draft.tell(
      "A step takes {}, in the other run {}: {} longer.",
      derived("step_phases", "wall_ms without the profiler", in_ms(here), "ms", {{"step", "mean"}}),
      derived("step_phases", "wall_ms without the profiler, other run", in_ms(there), "ms",
              {{"step", "mean"}}),
      derived("step_phases", "wall_ms without the profiler, difference", longer, "%",
              {{"step", "mean"}}));
  draft.formula = "none: the causes are other findings";
  draft.tries = {"the findings CMP-1 to CMP-4 first"};
  draft.verify = {.table = "step_phases",
                  .column = "wall_ms without the profiler",
                  .now = in_ms(here),
                  .expected = fmt::format("about {}", figure(in_ms(there), "ms")),
                  .is_derived = true};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace cmp_5

extern const Rule kCmp5;
constinit const Rule kCmp5 = {.id = "CMP-5",
                              .title = "Slower steps than in the other run",
                              .numbers = cmp_5::kNumbers,
                              .find = cmp_5::find};

}  // namespace tracelens
