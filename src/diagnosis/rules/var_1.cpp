// VAR-1: ops of the same arguments whose GPU time varies widely.
#include <algorithm>
#include <cmath>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace var_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 5, "% of the GPU's busy time in calls of the same arguments"},
    {"least_calls", 11, "calls"},
    {"least_spread", 1, "standard deviation over mean"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft};
  double widest = 0;
  for (const OpGroup& group : c.op_groups()) {
    if (static_cast<double>(group.uses.size()) < n["least_calls"] || !group.signature.valid() ||
        c.busy_share(group.busy_ns) < n["least_gpu_pct"])
      continue;
    std::vector<double> times;
    double squares = 0;
    const auto mean = static_cast<double>(group.busy_ns) / static_cast<double>(group.uses.size());
    for (const std::uint32_t at : group.uses) {
      times.push_back(static_cast<double>(c.op_uses()[at].busy_ns));
      squares += (times.back() - mean) * (times.back() - mean);
    }
    const double spread =
        mean > 0 ? std::sqrt(squares / static_cast<double>(times.size())) / mean : 0;
    if (spread <= n["least_spread"]) continue;
    widest = std::max(widest, spread);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    for (const std::uint32_t at : group.uses) {
      const OpUse& use = c.op_uses()[at];
      const auto now = static_cast<double>(use.busy_ns);
      if (now > *middle && found.may_take(use)) found.scale(use, *middle / now);
    }
  }
  if (found.uses() == 0) return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "Calls of the same op with the same arguments vary by up to {} of their mean; at their median "
      "the slow ones would take {} a step instead of {}.",
      derived("unified_perf_summary", "Kernel Time (us)_std of the mean", 100 * widest, "%"),
      derived("unified_perf_summary", "time per step at the median",
              in_ms(c.per_step(found.after_ns())), "ms"),
      found.time());
  draft.formula = "calls above the median -> the median";
  draft.tries = {"look at the clocks and the power limit of the GPU",
                 "look for communication that runs at the same time"};
  draft.verify = {.table = "unified_perf_summary",
                  .column = "Kernel Time (us)_std of the mean",
                  .now = 100 * widest,
                  .expected = "< 50",
                  .is_derived = true};
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace var_1

extern const Rule kVar1;
constinit const Rule kVar1 = {.id = "VAR-1",
                              .title = "Unstable kernel times",
                              .numbers = var_1::kNumbers,
                              .find = var_1::find};

}  // namespace tracelens
