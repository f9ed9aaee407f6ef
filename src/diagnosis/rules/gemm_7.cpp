// GEMM-7: products that the same run does faster with operands in another layout.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace gemm_7 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 1, "% of the GPU's busy time that the slower layout loses"},
    {"least_calls", 10, "calls of both"},
    {"least_gain", 1.2, "times that the other layout is faster"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  using Sizes = std::tuple<double, double, double, double, std::string_view>;
  const auto sizes_of = [](const OpGroup& group) {
    return Sizes{param_of(*group.work, "M"), param_of(*group.work, "N"), param_of(*group.work, "K"),
                 param_of(*group.work, "B"), group.work->compute_spec};
  };
  const auto counts = [&](const OpGroup& group) {
    return is_product(group.category) && group.work != nullptr &&
           static_cast<double>(group.uses.size()) >= n["least_calls"];
  };
  std::map<Sizes, std::int64_t> fastest;
  for (const OpGroup& group : c.op_groups()) {
    if (!counts(group)) continue;
    const auto [at, is_new] = fastest.try_emplace(sizes_of(group), group.mean_ns());
    if (!is_new) at->second = std::min(at->second, group.mean_ns());
  }
  Draft draft;
  Collected found{c, draft};
  for (const OpGroup& group : c.op_groups()) {
    if (!counts(group)) continue;
    const auto best = static_cast<double>(fastest[sizes_of(group)]);
    const auto now = static_cast<double>(group.mean_ns());
    if (best <= 0 || now < n["least_gain"] * best) continue;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at])) found.scale(c.op_uses()[at], best / now);
  }
  const std::int64_t lost = found.before_ns() - found.after_ns();
  if (found.uses() == 0 || c.busy_share(lost) < n["least_gpu_pct"]) return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "Matrix products that take {} a step run with operands in another layout in this run, too, "
      "and faster: all in that layout would take {}.",
      found.time(),
      derived("unified_perf_summary", "time per step at the faster rate",
              in_ms(c.per_step(found.after_ns())), "ms"));
  draft.formula = "products -> the mean time of the faster layout";
  draft.tries = {"store the weight transposed", "change the order of the contraction"};
  draft.verify = found.verification();
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace gemm_7

extern const Rule kGemm7;
constinit const Rule kGemm7 = {.id = "GEMM-7",
                               .title = "Slower layout of a product",
                               .numbers = gemm_7::kNumbers,
                               .find = gemm_7::find};

}  // namespace tracelens
