// GEMM-2: matrix products whose rows do not start at multiples of 16 bytes.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace gemm_2 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in such products"},
    {"alignment", 16, "bytes that each row must be a multiple of"},
    {"least_target_pct", 70, "% of the roof that aligned products are expected to reach"},
    {"most_target_pct", 85, "the same at most, where the run has faster ones"},
    {"memory_target_pct", 60, "% of the roof, for products bound by memory"},
    {"nearness", 0.95, "of the target: products above are fast enough"},
};

double element_bytes(const Work& work) {
  if (has_text(work.compute_spec, "32")) return 4;
  return has_text(work.compute_spec, "16") ? 2 : 1;
}

// The stride of a matrix that is not 1, in elements: what separates its rows. 0: not known.
double row_stride(const Value& strides) {
  if (!strides.is_sequence() || strides.items().size() < 2) return 0;
  const auto& all = strides.items();
  const Value &outer = all[all.size() - 2], &inner = all[all.size() - 1];
  if (!outer.is_number() || !inner.is_number()) return 0;
  return std::max(outer.as_real(), inner.as_real());
}

bool is_misaligned(const DiagnosisContext& c, const OpUse& use, double alignment) {
  for (const EventId kernel : use.kernels)
    if (has_any(c.trace.name(kernel), {"align1", "align2"})) return true;
  const double bytes = element_bytes(*use.work);
  const auto is_off = [&](double elements) {
    return elements > 1 && std::fmod(elements * bytes, alignment) != 0;
  };
  if (is_off(param_of(*use.work, "N"))) return true;
  for (const Param& param : use.work->params)
    if ((param.name == "stride_A" || param.name == "stride_B") && is_off(row_stride(param.value)))
      return true;
  return false;
}

// What aligned products of this type and about this size reach.
double target_of(const DiagnosisContext& c, const OpGroup& group, const Numbers& n) {
  if (group.roof->bound == Bound::kMemory) return n["memory_target_pct"];
  double best = 0;
  for (const OpGroup& other : c.op_groups()) {
    if (!is_product(other.category) || other.work == nullptr || other.roof == nullptr ||
        other.work->compute_spec != group.work->compute_spec ||
        other.work->flops * 4 < group.work->flops || other.work->flops > group.work->flops * 4 ||
        is_misaligned(c, c.op_uses()[other.uses.front()], n["alignment"]))
      continue;
    if (other.percent_of_roof() <= 110) best = std::max(best, other.percent_of_roof());
  }
  return std::clamp(best, n["least_target_pct"], n["most_target_pct"]);
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft};
  bool told = false;
  for (const OpGroup& group : c.op_groups()) {
    if (!is_product(group.category) || group.work == nullptr || group.roof == nullptr ||
        !uses_narrow_types(*group.work))
      continue;
    const OpUse& first = c.op_uses()[group.uses.front()];
    if (!is_misaligned(c, first, n["alignment"])) continue;
    const double target = target_of(c, group, n);
    if (group.percent_of_roof() >= n["nearness"] * target) continue;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at]))
        found.scale(c.op_uses()[at], c.op_uses()[at].percent_of_roof() / target);
    for (const EventId kernel : first.kernels) told |= has_text(c.trace.name(kernel), "align1");
  }
  if (found.uses() == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"])
    return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "Matrix products with a size that is no multiple of {} bytes take {} a step, {} of the GPU's "
      "busy time; padded ones would take about {}.",
      derived("", "bytes that rows are to be a multiple of", n["alignment"], ""), found.time(),
      found.share(),
      derived("roofline", "time per step of aligned products", in_ms(c.per_step(found.after_ns())),
              "ms"));
  draft.formula = "products -> what aligned ones of their size reach of the roof";
  draft.tries = {
      "pad the vocabulary, the hidden size or the sequence to a multiple of 8 (16 bit) or 16 (8 "
      "bit), better 64; cut the result afterwards"};
  draft.verify = found.verification();
  draft.confidence = told ? Confidence::kHigh : Confidence::kMedium;
  return draft;
}

}  // namespace gemm_2

extern const Rule kGemm2;
constinit const Rule kGemm2 = {.id = "GEMM-2",
                               .title = "Misaligned matrix sizes",
                               .numbers = gemm_2::kNumbers,
                               .find = gemm_2::find};

}  // namespace tracelens
