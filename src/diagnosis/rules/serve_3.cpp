// SERVE-3: too few requests are generated at once: every step reads all weights for some tokens.
// For information: the gain is throughput.
#include <fmt/format.h>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/serve_steps.hpp"

namespace tracelens {
namespace serve_3 {

constexpr Number kNumbers[] = {
    {"most_requests", 8, "requests per step that only generates, on average"},
    {"least_gpu_pct", 50, "% of the GPU's busy time in products that memory bounds"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  std::int64_t steps = 0, requests = 0, ns = 0;
  for (const ServedWindowStep& one : served_steps(c)) {
    if (one.step->said.phase != ServingPhase::kDecode ||
        one.step->said.kind == AnnotationKind::kDiffusion || one.step->said.requests() <= 0)
      continue;
    ++steps, requests += one.step->said.requests(), ns += one.step->wall_ns;
  }
  if (steps == 0) return std::nullopt;
  const double batch = static_cast<double>(requests) / static_cast<double>(steps);
  if (batch >= n["most_requests"]) return std::nullopt;
  std::int64_t bound = 0;
  for (const OpGroup& group : c.op_groups())
    if (is_product(group.category) && group.roof != nullptr && group.roof->bound == Bound::kMemory)
      bound += group.busy_ns;
  if (c.busy_share(bound) < n["least_gpu_pct"]) return std::nullopt;
  Draft draft;
  draft.where = {{.kind = "range", .name = "steps that decode", .time_ns = ns, .count = steps}};
  draft.verdict = draft.tell(
      "Steps that generate work on {} on average, and products bound by memory take {} of "
      "the GPU's busy time: more requests at once would cost little more.",
      counted(proof("serving_phases", "requests per step", batch, "", {{"phase", "decode"}}),
              "request", "requests"),
      derived("unified_perf_summary", "share of busy time", c.busy_share(bound), "%",
              {{"op category", "GEMM"}, {"bound", "memory"}}));
  draft.formula = "none: tokens per second grow with the batch until computing bounds it";
  draft.tries = {"more concurrent requests", "speculative decoding",
                 "weights in 8 or 4 bit, fewer bytes to read"};
  draft.verify = {.table = "serving_phases",
                  .column = "requests per step",
                  .now = batch,
                  .expected = fmt::format("> {}", figure(n["most_requests"], "")),
                  .key = {{"phase", "decode"}}};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace serve_3

extern const Rule kServe3;
constinit const Rule kServe3 = {.id = "SERVE-3",
                                .title = "Decode batch too small",
                                .numbers = serve_3::kNumbers,
                                .find = serve_3::find};

}  // namespace tracelens
