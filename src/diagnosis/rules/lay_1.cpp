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

// The host time of a call, and of the autograd nodes it left for the backward pass.
void drop(const DiagnosisContext& c, NodeId call, double factor, Collected& found) {
  found.scale_host(c.tree().event(call), factor);
  for (NodeId node = call; node.row < c.tree().end(call).row; ++node.row)
    if (c.tree().is_op(node))
      for (const EventId backward : c.tree().backward_of(c.tree().event(node)))
        found.scale_host(backward, factor);
}

// The call right before one, of the same caller; invalid: none.
NodeId call_before(const DiagnosisContext& c, NodeId call) {
  const Tree& tree = c.tree();
  NodeId outer = call;
  if (const NodeId above = tree.parent(call);
      above.valid() && c.trace.name(tree.event(above)).starts_with("<built-in method"))
    outer = above;
  if (outer.row == 0) return {};
  const NodeId caller = tree.parent(outer);
  NodeId before{outer.row - 1};
  while (before.valid() && tree.parent(before) != caller) before = tree.parent(before);
  return before != caller ? before : NodeId{};
}

// x.transpose(1, 2).contiguous(): the view is only there for the copy.
bool is_view(const DiagnosisContext& c, NodeId call) {
  for (NodeId node = call; node.row < c.tree().end(call).row; ++node.row)
    if (c.tree().is_op(node)) {
      const std::string_view name = c.trace.name(c.tree().event(node));
      return name == "aten::transpose" || name == "aten::permute" || name == "aten::t" ||
             name == "aten::movedim";
    }
  return false;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft, {.low = n["low_share"]}};
  for (const OpUse& use : c.op_uses()) {
    if (!use.node.valid() || !found.may_take(use) || !is_copy(c, use)) continue;
    found.scale(use, n["factor"]);
    const NodeId whole = outermost(c, use.node,
                                   {"aten::clone", "aten::contiguous", "aten::reshape",
                                    "aten::flatten", "aten::_reshape_copy", "aten::copy_"});
    drop(c, whole, n["factor"], found);
    if (c.trace.name(c.tree().event(whole)) == "aten::contiguous")
      if (const NodeId view = call_before(c, whole); view.valid() && is_view(c, view))
        drop(c, view, n["factor"], found);
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "{} copies a step only bring tensors into another layout; they take {} a step, {} of the "
      "GPU's busy time.",
      proof("unified_perf_summary", "copies per step", found.uses_per_step(), ""), found.time(),
      found.share());
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
