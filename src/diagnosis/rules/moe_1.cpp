// MOE-1: some experts, or ranks, get far more tokens than others. The trace shows counts and times, not
// why tokens were sent where.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/ranks/alltoallv.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/comm_places.hpp"

namespace tracelens {
namespace moe_1 {

constexpr Number kNumbers[] = {
    {"least_imbalance", 1.3, "largest over mean share of what ranks send to each other"},
    {"least_cv", 0.5, "standard deviation over mean of the time of equal grouped products"},
    {"least_calls", 8, "calls of a grouped product"},
};

// All-to-all exchanges of the job whose ranks send unequal amounts.
std::optional<Draft> by_exchanges(const DiagnosisContext& c, const Numbers& n) {
  if (c.job() == nullptr) return std::nullopt;
  const CollectiveRun& run = c.job()->run;
  std::map<std::uint32_t, double> imbalance_of;  // by kernel of this rank
  double sum = 0;
  for (const UnevenExchange& exchange : uneven_exchanges(run)) {
    if (!exchange.imbalance) continue;
    for (const CollectiveMember& member :
         run.matching().members(run.matching().collectives[exchange.collective]))
      if (member.rank == c.job()->rank) {
        imbalance_of.emplace(member.kernel, *exchange.imbalance);
        sum += *exchange.imbalance;
      }
  }
  if (imbalance_of.empty()) return std::nullopt;
  const double mean = sum / static_cast<double>(imbalance_of.size());
  if (mean < n["least_imbalance"]) return std::nullopt;
  Draft draft;
  CommPlaces places;
  for (const WindowCollective& one : c.communication().kernels) {
    const auto known = imbalance_of.find(one.kernel);
    if (one.rank != 0 || known == imbalance_of.end() || known->second <= 0) continue;
    draft.edit.scale_gpu(one.event, std::min(1.0, 1 / known->second));
    places.add(one, one.dur_ns);
  }
  for (const OpUse& use : c.op_uses())
    if (use.category.starts_with("GroupedGEMM") || use.category.starts_with("MoE_"))
      for (const EventId kernel : use.kernels)
        draft.edit.scale_gpu(kernel, std::min(1.0, 1 / mean));
  draft.where = places.take();
  draft.verdict = draft.tell(
      "In {} the rank with most to send has {} times the mean: token counts are "
      "uneven, and all wait for the largest.",
      counted(derived("nccl_all2allv", "exchanges", static_cast<double>(imbalance_of.size()), ""),
              "all-to-all exchange", "all-to-all exchanges"),
      derived("nccl_all2allv", "size_imbalance", mean, ""));
  draft.verify = {.table = "nccl_all2allv",
                  .column = "size_imbalance",
                  .now = mean,
                  .expected = fmt::format("< {}", figure(n["least_imbalance"], "")),
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

// Grouped products of equal shapes that take very different times: rows are distributed unevenly.
std::optional<Draft> by_products(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  double worst = 0;
  std::int64_t ns = 0;
  for (const OpGroup& group : c.op_groups()) {
    if (!group.category.starts_with("GroupedGEMM") ||
        static_cast<double>(group.uses.size()) < n["least_calls"])
      continue;
    const auto mean = static_cast<double>(group.mean_ns());
    double squares = 0;
    for (const std::uint32_t at : group.uses)
      squares += std::pow(static_cast<double>(c.op_uses()[at].busy_ns) - mean, 2);
    const double cv =
        mean > 0 ? std::sqrt(squares / static_cast<double>(group.uses.size())) / mean : 0;
    if (cv <= n["least_cv"]) continue;
    worst = std::max(worst, cv);
    ns += group.busy_ns;
    for (const std::uint32_t at : group.uses) {
      const OpUse& use = c.op_uses()[at];
      if (use.busy_ns <= group.mean_ns()) continue;
      for (const EventId kernel : use.kernels)
        if (c.is_free(kernel))
          draft.edit.scale_gpu(kernel, mean / static_cast<double>(use.busy_ns));
    }
    draft.where.push_back({.kind = "op",
                           .name = group.name,
                           .module = c.module_of(c.op_uses()[group.uses.front()].event),
                           .shape = c.shape_of(c.op_uses()[group.uses.front()].event),
                           .time_ns = group.busy_ns,
                           .count = static_cast<std::int64_t>(group.uses.size())});
  }
  if (ns == 0) return std::nullopt;
  draft.verdict = draft.tell(
      "Grouped products of equal shapes take {} in all, and vary by {} times their mean: token counts "
      "of experts are uneven.",
      derived("unified_perf_summary", "Kernel Time (ms)_sum", in_ms(ns), "ms",
              {{"op category", "GroupedGEMM"}}),
      derived("unified_perf_summary", "Kernel Time std / mean", worst, "",
              {{"op category", "GroupedGEMM"}}));
  draft.verify = {.table = "unified_perf_summary",
                  .column = "Kernel Time std / mean",
                  .now = worst,
                  .expected = fmt::format("< {}", figure(n["least_cv"], "")),
                  .is_derived = true};
  draft.confidence = Confidence::kLow;
  return draft;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  std::optional<Draft> draft = by_exchanges(c, n);
  if (!draft) draft = by_products(c, n);
  if (!draft) return std::nullopt;
  draft->formula = "products of experts and exchanges x mean / largest";
  draft->tries = {"a capacity factor, or a loss that balances the experts",
                  "place experts so that busy ones are on different ranks"};
  return draft;
}

}  // namespace moe_1

extern const Rule kMoe1;
constinit const Rule kMoe1 = {.id = "MOE-1",
                              .title = "Experts get uneven work",
                              .numbers = moe_1::kNumbers,
                              .find = moe_1::find};

}  // namespace tracelens
