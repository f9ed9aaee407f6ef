// MOE-3: experts get so few tokens that reading their weights takes the time.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace moe_3 {

constexpr Number kNumbers[] = {
    {"most_tokens", 64, "tokens per expert, on average"},
    {"least_gpu_pct", 2, "% of the GPU's busy time in such ops"},
};

double param(const Work& work, std::string_view name) {
  const auto found = std::ranges::find(work.params, name, &Param::name);
  return found != work.params.end() && found->value.is_number() ? found->value.as_real() : 0;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const auto bandwidth = c.reached_bandwidth();
  if (!bandwidth) return std::nullopt;
  Draft draft;
  std::int64_t ns = 0;
  double tokens_per_expert = 0, bytes = 0;
  for (const OpGroup& group : c.op_groups()) {
    if (!group.category.starts_with("MoE_") || group.work == nullptr || group.roof == nullptr ||
        group.roof->bound != Bound::kMemory || !group.work->bytes)
      continue;
    const double experts = param(*group.work, "num_experts"), topk = param(*group.work, "topk");
    const double tokens = param(*group.work, "num_tokens");
    if (experts <= 0 || topk <= 0 || tokens * topk / experts >= n["most_tokens"]) continue;
    tokens_per_expert = std::max(tokens_per_expert, tokens * topk / experts);
    const double best_ns = *group.work->bytes / *bandwidth * 1e9;
    for (const std::uint32_t at : group.uses) {
      const OpUse& use = c.op_uses()[at];
      for (const EventId kernel : use.kernels)
        if (c.is_free(kernel))
          draft.edit.scale_gpu(kernel, std::min(1.0, best_ns / static_cast<double>(use.busy_ns)));
      bytes += *group.work->bytes;
    }
    ns += group.busy_ns;
    draft.where.push_back({.kind = "op",
                           .name = group.name,
                           .module = c.module_of(c.op_uses()[group.uses.front()].event),
                           .shape = c.shape_of(c.op_uses()[group.uses.front()].event),
                           .time_ns = group.busy_ns,
                           .count = static_cast<std::int64_t>(group.uses.size())});
  }
  if (ns == 0 || c.busy_share(ns) < n["least_gpu_pct"]) return std::nullopt;
  const double reached = bytes / static_cast<double>(ns) / 1e3;
  draft.verdict = draft.tell(
      "Experts take {} of the GPU's busy time and get at most {} each on average: reading "
      "their weights bounds them, at {}.",
      derived("unified_perf_summary", "share of busy time", c.busy_share(ns), "%",
              {{"op category", "MoE"}}),
      counted(derived("unified_perf_summary", "tokens per expert", tokens_per_expert, ""), "token",
              "tokens"),
      proof("unified_perf_summary", "TB/s_mean", reached, "TB/s"));
  draft.formula = "bytes, as if tokens were spread evenly, at the bandwidth the run reaches";
  draft.tries = {"more tokens per step: a larger decode batch",
                 "expert parallelism: fewer experts per GPU", "weights in 8 or 4 bit"};
  draft.verify = {.table = "unified_perf_summary",
                  .column = "TB/s_mean",
                  .now = reached,
                  .expected = fmt::format("about {}", figure(*bandwidth / 1e12, "TB/s"))};
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace moe_3

extern const Rule kMoe3;
constinit const Rule kMoe3 = {.id = "MOE-3",
                              .title = "Experts bound by their weights",
                              .numbers = moe_3::kNumbers,
                              .find = moe_3::find};

}  // namespace tracelens
