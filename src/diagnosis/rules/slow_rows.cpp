#include "diagnosis/rules/slow_rows.hpp"

#include <fmt/format.h>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"

namespace tracelens {

std::optional<Draft> find_slow_rows(const DiagnosisContext& c, const SlowRows& rows) {
  const auto bandwidth = c.reached_bandwidth();
  if (!bandwidth) return std::nullopt;
  Draft draft;
  Collected found{c, draft};
  for (const OpGroup& group : c.op_groups()) {
    if (group.work == nullptr || group.work->bytes.value_or(0) < rows.least_bytes ||
        !rows.is_one(group))
      continue;
    const double rate = group.terabytes_per_second() * 1e12;
    if (rate <= 0 || rate * 100 >= rows.slow_pct * *bandwidth) continue;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at]))
        found.scale(c.op_uses()[at], rate / (rows.target * *bandwidth));
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < rows.least_gpu_pct)
    return std::nullopt;
  found.finish();
  draft.verdict = fmt::format(
      "{} take {} a step, {} of the GPU's busy time, below {} of the bandwidth that this run reaches "
      "elsewhere ({}); they could take about {}.",
      rows.what,
      draft.prove("unified_perf_summary", "GPU time per step", in_ms(c.per_step(found.before_ns())),
                  "ms"),
      draft.prove("unified_perf_summary", "share of busy time", c.busy_share(found.before_ns()),
                  "%"),
      draft.prove("rule", "slow_pct", rows.slow_pct, "%"),
      draft.prove("unified_perf_summary", "highest TB/s_mean of large elementwise ops",
                  *bandwidth / 1e12, "TB/s"),
      draft.prove("roofline", "time per step", in_ms(c.per_step(found.after_ns())), "ms"));
  draft.formula = fmt::format("bytes at {:.0f}% of that bandwidth", 100 * rows.target);
  draft.verify = {.table = "unified_perf_summary",
                  .column = "GPU time per step",
                  .now = in_ms(c.per_step(found.before_ns())),
                  .expected = fmt::format("about {}", ms_text(c.per_step(found.after_ns())))};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace tracelens
