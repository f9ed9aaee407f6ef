// CMP-2: the other run does the same with fewer kernels, and faster.
#include <fmt/format.h>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/cmp_changes.hpp"

namespace tracelens {
namespace cmp_2 {

constexpr Number kNumbers[] = {
    {"least_pct", 1, "% of the window that an op or module loses"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  CmpLosses losses = losses_of_kind(c, CmpChange::Kind::kMoreKernels, n["least_pct"]);
  if (losses.count == 0) return std::nullopt;
  Draft draft = std::move(losses.draft);
  draft.verdict =
      draft.tell("Here {} {}, where the other run needs {} for {}, in as many steps.",
                 counted(derived("ops_diff", "kernels_trace1 of these", losses.kernels, ""),
                         "GPU event takes", "GPU events take"),
                 derived("ops_diff", "time_trace1 of these", in_ms(losses.ns), "ms"),
                 derived("ops_diff", "kernels_trace2 of these", losses.other_kernels, ""),
                 derived("ops_diff", "time_trace2 of these", in_ms(losses.other_ns), "ms"));
  draft.formula = "these kernels -> the time of those in the other run";
  draft.tries = {"the fused op, library or compiler that the other run uses"};
  draft.verify = {.table = "ops_diff",
                  .column = "kernels_trace1 of these",
                  .now = losses.kernels,
                  .expected = fmt::format("about {}", figure(losses.other_kernels, "")),
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace cmp_2

extern const Rule kCmp2;
constinit const Rule kCmp2 = {.id = "CMP-2",
                              .title = "Fewer kernels in the other run",
                              .numbers = cmp_2::kNumbers,
                              .find = cmp_2::find};

}  // namespace tracelens
