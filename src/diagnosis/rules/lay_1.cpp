// LAY-1: copies that only change the layout of a tensor, or append a little to a large one.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/kit/shapes.hpp"

namespace tracelens {
namespace lay_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 3, "% of the GPU's busy time in such copies"},
    {"factor", 0, "what is left of them"},
    {"low_share", 0.5, "of the saving that the low estimate counts"},
    {"appended_pct", 90, "% of a joined tensor that one part has: the rest is appended to it"},
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

// Of the joined tensor, the part of its largest piece; 0: nothing is joined.
double largest_piece(const DiagnosisContext& c, const OpUse& use) {
  if (use.name != "aten::cat") return 0;
  const SignatureId id = c.trace.signatures()[use.event.row];
  if (!id.valid()) return 0;
  const Value& dims = c.trace.signature(id).dims;
  if (!dims.is_sequence() || dims.items().empty() || !dims.items()[0].is_sequence()) return 0;
  double all = 0, largest = 0;
  for (const Value& piece : dims.items()[0].items()) {
    all += elements_of(piece);
    largest = std::max(largest, elements_of(piece));
  }
  return all > largest ? largest / all : 0;  // a piece alone is copied on purpose
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
  std::int64_t appended = 0;
  for (const OpUse& use : c.op_uses()) {
    if (!use.node.valid() || !found.may_take(use)) continue;
    if (const double piece = largest_piece(c, use); 100 * piece >= n["appended_pct"]) {
      found.scale(use, 1 - piece);  // what is new still has to be written
      appended += use.busy_ns;
      continue;
    }
    if (!is_copy(c, use)) continue;
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
  const bool appends = 2 * appended > found.before_ns();
  draft.verdict = draft.tell(
      "{} {}; that takes {} a step, {} of the GPU's busy time.",
      counted(derived("unified_perf_summary", "copies per step", found.uses_per_step(), ""),
              "copy a step is made only to", "copies a step are made only to"),
      appends ? "append a little to large tensors" : "bring tensors into another layout",
      found.time(), found.share());
  draft.formula = fmt::format("copies and their host time x {} (low: half of that)", n["factor"]);
  if (appended > 0)
    draft.tries.push_back(
        "write into a tensor that is large enough from the start (index_copy_, narrow().copy_()) "
        "instead of torch.cat");
  for (const char* const other :
       {"leave out .contiguous() and .clone(), or reshape where the layout fits already",
        "choose the order of dimensions once, so that nothing has to be permuted",
        "let the op before write the layout that is needed (torch.compile does)"})
    draft.tries.emplace_back(other);
  draft.verify = {.table = "unified_perf_summary",
                  .column = "GPU time per step",
                  .now = in_ms(c.per_step(found.before_ns())),
                  .expected = "less than half",
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace lay_1

extern const Rule kLay1;
constinit const Rule kLay1 = {
    .id = "LAY-1", .title = "Layout copies", .numbers = lay_1::kNumbers, .find = lay_1::find};

}  // namespace tracelens
