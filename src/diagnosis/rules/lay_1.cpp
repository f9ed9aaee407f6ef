// LAY-1: copies that only change the layout of a tensor.
#include <fmt/format.h>

#include <string_view>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/kit/shapes.hpp"

namespace tracelens {
namespace {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 3, "% of the GPU's busy time in such copies"},
    {"factor", 0, "what is left of them"},
    {"low_share", 0.5, "of the saving that the low estimate counts"},
};

bool is_copy(const DiagnosisContext& c, const OpUse& use) {
  if (use.name != "aten::copy_" && use.name != "aten::clone") return false;
  const SignatureId id = c.trace.signatures()[use.event.row];
  if (!id.valid()) return false;
  const Signature& arguments = c.trace.signature(id);
  const std::string_view to = type_of(arguments, 0);
  const std::string_view from = use.name == "aten::copy_" ? type_of(arguments, 1) : to;
  if (to.empty() || to != from) return false;
  for (const EventId kernel : use.kernels)  // to or from the host is another matter
    if (has_any(c.trace.name(kernel), {"HtoD", "DtoH", "HostToDevice", "DeviceToHost"}))
      return false;
  return true;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft, {.low = n["low_share"]}};
  for (const OpUse& use : c.op_uses()) {
    if (!use.node.valid() || !found.may_take(use) || !is_copy(c, use)) continue;
    found.scale(use, n["factor"]);
    found.scale_host(
        c.tree().event(outermost(c, use.node,
                                 {"aten::clone", "aten::contiguous", "aten::reshape",
                                  "aten::flatten", "aten::_reshape_copy", "aten::copy_"})),
        n["factor"]);
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  draft.verdict = fmt::format(
      "{} copies a step only bring tensors into another layout; they take {} a step, {} of the "
      "GPU's busy time.",
      draft.prove("unified_perf_summary", "copies per step", found.uses_per_step(), ""),
      draft.prove("unified_perf_summary", "GPU time per step", in_ms(c.per_step(found.before_ns())),
                  "ms"),
      draft.prove("unified_perf_summary", "share of busy time", c.busy_share(found.before_ns()),
                  "%"));
  draft.formula = fmt::format("copies and their host time x {} (low: half of that)", n["factor"]);
  draft.tries = {"leave out .contiguous() and .clone(), or reshape where the layout fits already",
                 "choose the order of dimensions once, so that nothing has to be permuted",
                 "let the op before write the layout that is needed (torch.compile does)"};
  draft.verify = {.table = "unified_perf_summary",
                  .column = "GPU time per step",
                  .now = in_ms(c.per_step(found.before_ns())),
                  .expected = "less than half"};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace

extern const Rule kLay1;
constinit const Rule kLay1 = {
    .id = "LAY-1", .title = "Layout copies", .numbers = kNumbers, .find = find};

}  // namespace tracelens
