// CAST-1: kernels that only change the type of a tensor.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/kit/shapes.hpp"

namespace tracelens {
namespace cast_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 3, "% of the GPU's busy time in conversions"},
    {"least_pct", 3, "% of the window that mending saves, where the GPU's share is smaller"},
    {"weight_factor", 0.5, "what is left of conversions of weights that autocast makes"},
    {"heavy_pct", 15, "% of the GPU's busy time in those from which on none are left"},
};

NodeId whole_conversion(const DiagnosisContext& c, NodeId op) {
  return outermost(c, op, {"aten::to", "aten::_to_copy", "aten::copy_", "aten::type_as"});
}

enum class Caster { kUser, kWeight, kActivation };

const Signature* signature_of(const DiagnosisContext& c, NodeId node) {
  const SignatureId id = c.trace.signatures()[c.tree().event(node).row];
  return id.valid() ? &c.trace.signature(id) : nullptr;
}

// Who asked for a conversion: no op above it is the user; below an op it is autocast, and the shape
// tells whether of the op's first argument or of a weight.
Caster caster_of(const DiagnosisContext& c, NodeId conversion) {
  const NodeId forward = forward_of(c, conversion);
  const NodeId whole = whole_conversion(c, forward.valid() ? forward : conversion);
  const NodeId above = c.tree().parent(whole);
  if (!above.valid() || !c.tree().is_op(above)) return Caster::kUser;
  const Signature* const own = signature_of(c, whole);
  const Signature* const user = signature_of(c, above);
  if (own == nullptr || user == nullptr || own->dims.items().empty()) return Caster::kActivation;
  const Value& shape = own->dims.items().front();
  const auto& shapes = user->dims.items();
  if (shapes.empty() || shapes.front() == shape) return Caster::kActivation;
  return std::ranges::find(shapes, shape) != shapes.end() ? Caster::kWeight : Caster::kActivation;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft, {.low = 0.5}};
  std::vector<std::pair<const OpUse*, Caster>> conversions;
  std::int64_t by_autocast = 0;
  for (const OpUse& use : c.op_uses()) {
    if ((use.name != "aten::copy_" && use.name != "aten::_to_copy") || !use.node.valid() ||
        !found.may_take(use))
      continue;
    const Signature* const arguments = signature_of(c, use.node);
    if (arguments == nullptr) continue;
    const std::string_view to = type_of(*arguments, 0), from = type_of(*arguments, 1);
    if (to.empty() || from.empty() || to == from) continue;
    const Caster caster = caster_of(c, use.node);
    if (caster == Caster::kActivation) continue;  // 16 bit is what autocast is for
    conversions.emplace_back(&use, caster);
    if (caster == Caster::kWeight) by_autocast += use.busy_ns;
  }
  // Every run under autocast converts its weights; it pays to avoid that where it takes much.
  const double weight_factor = c.busy_share(by_autocast) >= n["heavy_pct"] ? 0 : n["weight_factor"];
  for (const auto& [use, caster] : conversions) {
    const double factor = caster == Caster::kUser ? 0 : weight_factor;
    found.scale(*use, factor);
    found.scale_host(c.tree().event(whole_conversion(c, use->node)), factor);
  }
  if (found.uses() == 0 || (c.busy_share(found.before_ns()) < n["least_gpu_pct"] &&
                            c.share(c.saving_ns(draft.edit)) < n["least_pct"]))
    return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "{} tensors to another type; that takes {} of the GPU's busy time "
      "({} a step), {} of that for weights that autocast converts each time.",
      counted(derived("unified_perf_summary", "conversions per step", found.uses_per_step(), ""),
              "kernel a step only converts", "kernels a step only convert"),
      found.share(), found.time(),
      derived("unified_perf_summary", "share below other ops",
              percentage(by_autocast, found.before_ns()), "%"));
  draft.formula = fmt::format(
      "kernels and host time of the user's conversions -> 0, of weights x {} (low: half of that)",
      weight_factor);
  if (by_autocast * 2 > found.before_ns())
    draft.tries = {
        "keep the weights in 16 bit (model.bfloat16()) with an optimizer that holds fp32 "
        "copies, instead of converting them in every step",
        "larger batches: the weights are converted once for more work",
        "one autocast region around the whole step, so that its cache holds"};
  else
    draft.tries = {"drop the .to(), .float() and .half() calls, or convert once outside the loop",
                   "let the op before write the type that is needed"};
  draft.verify = {.table = "unified_perf_summary",
                  .column = "GPU time per step",
                  .now = in_ms(c.per_step(found.before_ns())),
                  .expected = "less than half",
                  .is_derived = true};
  draft.confidence = by_autocast * 2 > found.before_ns() ? Confidence::kMedium : Confidence::kHigh;
  return draft;
}

}  // namespace cast_1

extern const Rule kCast1;
constinit const Rule kCast1 = {
    .id = "CAST-1", .title = "Type conversions", .numbers = cast_1::kNumbers, .find = cast_1::find};

}  // namespace tracelens
