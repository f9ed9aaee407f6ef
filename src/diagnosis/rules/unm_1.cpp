// UNM-1: ops that take much of the GPU's time and that nobody has a model for.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace unm_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 3, "% of the GPU's busy time in an op of one name"},
    {"factor", 0.7, "what is left of it"},
};

// What is known to be fused, or no work of the GPU's own.
bool is_of_no_use(const OpGroup& group) {
  return group.category == "Optimizer" ||
         has_any(group.name, {"_fused_", "memcpy", "Memcpy", "Memset", "nccl", "copy_"});
}

// Ops of a database come with shapes alone, unless the user says more.
bool lacks_types(const DiagnosisContext& c) {
  return c.facts.kind() == TraceKind::kDatabase &&
         std::ranges::any_of(c.op_groups(), [&](const OpGroup& group) {
           return group.signature.valid() &&
                  c.facts.trace().signature(group.signature).types.is_null();
         });
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (c.facts.kind() == TraceKind::kJax) return std::nullopt;  // its ops' models are not asked here
  std::map<std::string_view, std::int64_t> by_name;
  const auto counts = [&](const OpGroup& group) {
    // Without arguments no op has a model: that says something about the trace, not about the op.
    return group.work == nullptr && group.signature.valid() && !is_of_no_use(group);
  };
  for (const OpGroup& group : c.op_groups())
    if (counts(group)) by_name[group.name] += group.busy_ns;
  Draft draft;
  Collected found{c, draft, {.low = 0.5, .high = 1.5}};
  for (const OpGroup& group : c.op_groups()) {
    if (!counts(group) || c.busy_share(by_name[group.name]) < n["least_gpu_pct"]) continue;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at])) found.scale(c.op_uses()[at], n["factor"]);
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "Ops without a model of their work take {} a step, {} of the GPU's busy time: whether they are "
      "slow cannot be said from the trace.",
      found.time(), found.share());
  draft.formula = fmt::format("those ops x {}, a rule of thumb", n["factor"]);
  draft.tries = {"describe their work in a file for --models",
                 "measure them alone, with hardware counters"};
  if (lacks_types(c))
    draft.tries.insert(draft.tries.begin(),
                       "say what their tensors are made of, which the file does not: "
                       "--assume-dtype bf16");
  draft.verify = {.table = "unified_perf_summary",
                  .column = "share of busy time",
                  .now = c.busy_share(found.before_ns()),
                  .expected = "less",
                  .is_derived = true};
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace unm_1

extern const Rule kUnm1;
constinit const Rule kUnm1 = {.id = "UNM-1",
                              .title = "Significant ops without a model",
                              .numbers = unm_1::kNumbers,
                              .find = unm_1::find};

}  // namespace tracelens
