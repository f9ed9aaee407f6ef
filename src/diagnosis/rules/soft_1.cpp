// SOFT-1: a softmax or a loss over wide rows that is slow, or put together from separate ops.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/kit/shapes.hpp"

namespace tracelens {
namespace soft_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in it"},
    {"least_width", 1024, "elements of a row"},
    {"least_elements", 4194304, "elements of the tensor"},
    {"forward_bytes", 8, "bytes per element that the op of the library moves: read and write"},
    {"backward_bytes", 16, "the same in its backward pass"},
    {"of_bandwidth", 0.7, "of the bandwidth that it reaches"},
    {"slow_pct", 50, "% of the bandwidth: a softmax of the library below is slow"},
};

// The largest tensor of an op, with rows that are wide enough; 0 elements: none.
double wide_elements(const DiagnosisContext& c, const OpUse& use, const Numbers& n) {
  const SignatureId id = use.event.valid() ? c.trace.signatures()[use.event.row] : SignatureId{};
  if (!id.valid()) return 0;
  const Signature& arguments = c.trace.signature(id);
  double largest = 0;
  for (std::size_t i = 0; i < arguments.dims.items().size(); ++i)
    if (size_from_last(arguments, i, 0) >= n["least_width"])
      largest = std::max(largest, elements_of(arguments, i));
  return largest >= n["least_elements"] ? largest : 0;
}

// What a formula of a softmax is made of.
bool is_part(const DiagnosisContext& c, const OpUse& use) {
  if (use.name == "aten::copy_") {  // only conversions: layouts are another matter
    const Signature& arguments = c.trace.signature(c.trace.signatures()[use.event.row]);
    return type_of(arguments, 0) != type_of(arguments, 1);
  }
  constexpr std::string_view kParts[] = {
      "aten::exp",   "aten::exp_",   "aten::sub",   "aten::div",       "aten::div_",
      "aten::log",   "aten::neg",    "aten::sum",   "aten::amax",      "aten::max",
      "aten::mul",   "aten::mul_",   "aten::add",   "aten::add_",      "aten::fill_",
      "aten::zero_", "aten::gather", "aten::where", "aten::logsumexp", "aten::mean"};
  return std::ranges::find(kParts, use.name) != std::end(kParts);
}

struct Formula {
  std::vector<std::uint32_t> uses;
  double exponentials = 0, sums = 0, backward = 0;
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const auto bandwidth = c.bandwidth(), reached = c.reached_bandwidth();
  if (!bandwidth || !reached) return std::nullopt;
  Draft draft;
  Collected found{c, draft};
  std::map<double, Formula> formulas;  // by elements
  std::int64_t slow_ns = 0;
  for (std::uint32_t at = 0; at < c.op_uses().size(); ++at) {
    const OpUse& use = c.op_uses()[at];
    if (!use.node.valid() || !found.may_take(use)) continue;
    if (use.category == "Softmax" || use.category.starts_with("CrossEntropy")) {
      const OpGroup& group = c.op_groups()[use.group];
      const double rate = group.terabytes_per_second() * 1e12;
      if (rate <= 0 || group.work->bytes.value_or(0) < 8e6 ||
          rate * 100 >= n["slow_pct"] * *reached)
        continue;
      found.scale(use, rate / (n["of_bandwidth"] * *reached));
      slow_ns += use.busy_ns;
      continue;
    }
    const double elements = wide_elements(c, use, n);
    if (elements <= 0 || !is_part(c, use)) continue;
    Formula& formula = formulas[elements];
    formula.uses.push_back(at);
    if (c.places().phase(use.node) == ProgramPhase::kBackward) {
      ++formula.backward;
    } else {
      formula.exponentials += use.name.starts_with("aten::exp");
      formula.sums += use.name == "aten::sum";
    }
  }
  double formula_count = 0, kernels = 0;
  for (const auto& [elements, formula] : formulas) {
    if (formula.exponentials == 0 || formula.sums == 0) continue;
    std::int64_t now = 0;
    for (const std::uint32_t at : formula.uses) now += c.op_uses()[at].busy_ns;
    const double bytes = n["forward_bytes"] + (formula.backward > 0 ? n["backward_bytes"] : 0);
    const double times = std::min(formula.exponentials, formula.sums);
    const double seconds = times * elements * bytes / (n["of_bandwidth"] * *bandwidth);
    const double factor = seconds * 1e9 / static_cast<double>(now);
    if (factor >= 1) continue;
    for (const std::uint32_t at : formula.uses) {
      found.scale(c.op_uses()[at], factor);
      found.scale_host(c.op_uses()[at].event, factor);
    }
    formula_count += times;
    kernels += static_cast<double>(formula.uses.size());
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  const auto steps = static_cast<double>(c.steps());
  if (formula_count > 0)
    draft.verdict = draft.tell(
        "A softmax over wide rows is put together from {} a step, which read and write the whole "
        "tensor each; they take {} a step, {} of the GPU's busy time, the library's op about {}.",
        counted(derived("unified_perf_summary", "ops of the formula per step", kernels / steps, ""),
                "op", "ops"),
        found.time(), found.share(), found.time_left());
  else
    draft.verdict = draft.tell(
        "Softmax and loss take {} a step, {} of the GPU's busy time, below half of the bandwidth "
        "that this run reaches elsewhere; at that they would take about {}.",
        derived("unified_perf_summary", "GPU time per step", in_ms(c.per_step(slow_ns)), "ms"),
        derived("unified_perf_summary", "share of busy time", c.busy_share(slow_ns), "%"),
        found.time_left());
  draft.formula = fmt::format("{} bytes per element forward, {} backward, at {:.0f}% of bandwidth",
                              n["forward_bytes"], n["backward_bytes"], 100 * n["of_bandwidth"]);
  draft.tries = {"torch.nn.functional.cross_entropy or log_softmax instead of the formula",
                 "keep the logits in 16 bit",
                 "a fused linear-cross-entropy that never writes all logits"};
  draft.verify = found.verification();
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace soft_1

extern const Rule kSoft1;
constinit const Rule kSoft1 = {.id = "SOFT-1",
                               .title = "Softmax or cross entropy",
                               .numbers = soft_1::kNumbers,
                               .find = soft_1::find};

}  // namespace tracelens
