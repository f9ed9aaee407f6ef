// ATTN-3: copies of queries, keys, values or results right before or after fused attention.
#include <string_view>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/kit/shapes.hpp"

namespace tracelens {
namespace attn_3 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 1, "% of the GPU's busy time in such copies"},
};
constexpr std::size_t kNear = 3;  // ops before and after

const Signature* arguments_of(const DiagnosisContext& c, const OpUse& use) {
  const SignatureId id = c.trace.signatures()[use.event.row];
  return id.valid() ? &c.trace.signature(id) : nullptr;
}

bool is_copy(const DiagnosisContext& c, const OpUse& use) {
  if (use.name != "aten::copy_" && use.name != "aten::clone") return false;
  const Signature* const arguments = arguments_of(c, use);
  return arguments != nullptr &&
         (use.name == "aten::clone" || type_of(*arguments, 0) == type_of(*arguments, 1));
}

// As many elements as queries, keys or values.
bool has_its_size(const DiagnosisContext& c, const OpUse& copy, const OpUse& attention) {
  const Signature *const own = arguments_of(c, copy), *const its = arguments_of(c, attention);
  if (own == nullptr || its == nullptr) return false;
  const double elements = elements_of(*own, 0);
  for (std::size_t i = 0; i < 4; ++i)
    if (elements > 0 && elements_of(*its, i) == elements) return true;
  return false;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft, {.low = 0.5}};
  const std::vector<std::uint32_t> order = uses_by_time(c);
  std::vector<bool> is_taken(order.size());
  const auto use = [&](std::size_t at) -> const OpUse& { return c.op_uses()[order[at]]; };
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (!use(at).category.starts_with("SDPA")) continue;
    const auto look = [&](std::size_t other) {
      if (is_taken[other] || !is_copy(c, use(other)) || !found.may_take(use(other)) ||
          !has_its_size(c, use(other), use(at)))
        return;
      is_taken[other] = true;
      found.scale(use(other), 0);
      found.scale_host(c.tree().event(outermost(
                           c, use(other).node,
                           {"aten::clone", "aten::contiguous", "aten::reshape", "aten::copy_"})),
                       0);
    };
    for (std::size_t i = 1; i <= kNear; ++i) {
      if (at >= i) look(at - i);
      if (at + i < order.size()) look(at + i);
    }
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "{} of queries, keys, values or results beside fused attention; that takes "
      "{} a step, {} of the GPU's busy time.",
      counted(derived("unified_perf_summary", "copies per step", found.uses_per_step(), ""),
              "copy a step is made", "copies a step are made"),
      found.time(), found.share());
  draft.formula = "those copies and their host time -> 0 (low: half)";
  draft.tries = {"pass strided tensors: attention does not need contiguous ones",
                 "write the projection of the output for (batch, sequence, heads, size)"};
  draft.verify = {.table = "unified_perf_summary",
                  .column = "copies per step",
                  .now = found.uses_per_step(),
                  .expected = "0",
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace attn_3

extern const Rule kAttn3;
constinit const Rule kAttn3 = {.id = "ATTN-3",
                               .title = "Copies around attention",
                               .numbers = attn_3::kNumbers,
                               .find = attn_3::find};

}  // namespace tracelens
