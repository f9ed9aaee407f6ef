#include "diagnosis/rules/slow_rows.hpp"

#include <fmt/format.h>

#include "diagnosis/kit/collected.hpp"

namespace tracelens {

std::optional<Draft> find_slow_rows(const DiagnosisContext& c, const Numbers& n,
                                    bool (*is_one)(const OpGroup& group), std::string_view what) {
  const auto bandwidth = c.reached_bandwidth();
  if (!bandwidth) return std::nullopt;
  Draft draft;
  Collected found{c, draft};
  for (const OpGroup& group : c.op_groups()) {
    if (group.work == nullptr || group.work->bytes.value_or(0) < n["least_bytes"] || !is_one(group))
      continue;
    const double rate = group.terabytes_per_second() * 1e12;
    if (rate <= 0 || rate * 100 >= n["slow_pct"] * *bandwidth) continue;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at]))
        found.scale(c.op_uses()[at], rate / (n["target"] * *bandwidth));
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "{} take {} a step, {} of the GPU's busy time, below {} of the bandwidth that this run reaches "
      "elsewhere ({}); they could take about {}.",
      what, found.time(), found.share(),
      derived("", "share of the bandwidth below which they count", n["slow_pct"], "%"),
      derived("unified_perf_summary", "highest TB/s_mean of large elementwise ops",
              *bandwidth / 1e12, "TB/s"),
      found.time_left());
  draft.formula = fmt::format("bytes at {:.0f}% of that bandwidth", 100 * n["target"]);
  draft.verify = found.verification();
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace tracelens
