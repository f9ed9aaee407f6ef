// CONV-1: convolutions far below the GPU's roof.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace conv_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time that convolutions lose"},
    {"target_pct", 70, "% of the roof that convolutions are expected to reach"},
    {"pointwise_pct", 60, "the same of those with a window of 1"},
    {"depthwise_pct", 50, "the same of those with a group per channel"},
    {"memory_pct", 45, "the same of those bound by memory"},
};
constexpr double kBelievable = 110;  // percent of a roof; above, the model does not fit

const Value* shape_param(const Work& work, std::string_view name) {
  for (const Param& param : work.params)
    if (param.name == name && param.value.is_sequence()) return &param.value;
  return nullptr;
}

double target_of(const OpGroup& group, const Numbers& n) {
  const Value* const filter = shape_param(*group.work, "filter_shape");
  const Value* const input = shape_param(*group.work, "input_shape");
  double target = n["target_pct"];
  if (filter != nullptr && filter->items().size() > 2) {
    const auto window = std::span{filter->items()}.subspan(2);
    if (std::ranges::all_of(
            window, [](const Value& size) { return size.is_number() && size.as_real() == 1; }))
      target = n["pointwise_pct"];
  }
  const double groups = param_of(*group.work, "groups");
  if (groups > 1 && input != nullptr && input->items().size() > 1 &&
      input->items()[1].is_number() && groups == input->items()[1].as_real())
    target = n["depthwise_pct"];
  return group.roof->bound == Bound::kMemory ? std::min(target, n["memory_pct"]) : target;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft};
  for (const OpGroup& group : c.op_groups()) {
    if (!group.category.starts_with("CONV") || group.work == nullptr || group.roof == nullptr)
      continue;
    const double reached = group.percent_of_roof(), target = target_of(group, n);
    if (reached <= 0 || reached >= target || reached > kBelievable) continue;
    for (const std::uint32_t at : group.uses)
      if (found.may_take(c.op_uses()[at])) found.scale(c.op_uses()[at], reached / target);
  }
  const std::int64_t lost = found.before_ns() - found.after_ns();
  if (found.uses() == 0 || c.busy_share(lost) < n["least_gpu_pct"]) return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "Convolutions take {} a step, {} of the GPU's busy time, below what such convolutions reach; "
      "at that rate they would take about {}.",
      found.time(), found.share(), found.time_left());
  draft.formula = fmt::format("convolutions -> {}% of the roof (window 1: {}, depthwise: {})",
                              n["target_pct"], n["pointwise_pct"], n["depthwise_pct"]);
  draft.tries = {"torch.backends.cudnn.benchmark = True", "channels_last for model and input",
                 "convolution, bias and activation as one op (torch.compile)",
                 "depthwise ones: little runs in parallel, expect less"};
  draft.verify = found.verification();
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace conv_1

extern const Rule kConv1;
constinit const Rule kConv1 = {.id = "CONV-1",
                               .title = "Low convolution efficiency",
                               .numbers = conv_1::kNumbers,
                               .find = conv_1::find};

}  // namespace tracelens
