// CONV-2: kernels that only turn tensors around for the convolutions, which want the channels last.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace conv_2 {

constexpr Number kNumbers[] = {
    {"least_conv_pct", 10, "% of the convolutions' time in such kernels"},
    {"least_gpu_pct", 1, "% of the GPU's busy time in them"},
    {"of_peak", 0.7, "of the matrix peak that convolutions reach with channels last"},
    {"of_bandwidth", 0.45, "of the bandwidth that they and batch norms reach with channels last"},
    {"sure_factor", 3, "times as fast that the work gets for sure; more is less certain"},
};

bool is_turning(std::string_view kernel) {
  return has_any(kernel, {"batched_transpose", "nchwToNhwc", "nhwcToNchw", "transpose_",
                          "AddPadding", "tensorTransform", "convertTensor"});
}
bool is_convolution(std::string_view category) { return category.starts_with("CONV"); }
bool is_channels_first_norm(const DiagnosisContext& c, const OpUse& use) {
  return use.category.starts_with("NORM") && has_text(use.name, "batch_norm") &&
         std::ranges::none_of(use.kernels, [&](EventId kernel) {
           return has_any(c.trace.name(kernel), {"nhwc", "NHWC", "channels_last"});
         });
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  draft.low.emplace();
  Collected found{c, draft};
  std::int64_t convolutions = 0, turning = 0;
  for (const OpUse& use : c.op_uses()) {
    if (!is_convolution(use.category) || !found.may_take(use)) continue;
    convolutions += use.busy_ns;
    std::vector<EventId> others;
    std::int64_t turned = 0;
    for (const EventId kernel : use.kernels)
      if (is_turning(c.trace.name(kernel))) {
        found.scale(kernel, 0);
        draft.low->scale_gpu(kernel, 0);
        turned += c.dur_ns(kernel);
      } else {
        others.push_back(kernel);
      }
    turning += turned;
    if (turned == 0 || use.roof == nullptr || others.empty()) continue;
    // What is left runs on kernels for the other layout.
    const double best_us =
        std::max(use.roof->compute_us / n["of_peak"], use.roof->memory_us / n["of_bandwidth"]);
    const double now_us = static_cast<double>(c.gpu_sum_ns(others)) / 1e3;
    found.scale(use, others, std::min(1.0, best_us / std::max(now_us, 1e-3)));
  }
  if (percentage(turning, convolutions) < n["least_conv_pct"] ||
      c.busy_share(turning) < n["least_gpu_pct"])
    return std::nullopt;
  for (const OpUse& use : c.op_uses())
    if (use.roof != nullptr && found.may_take(use) && is_channels_first_norm(c, use))
      found.scale(use, std::min(1.0, use.percent_of_roof() / 100 / n["of_bandwidth"]));
  found.finish();

  draft.verdict = draft.tell(
      "Kernels that turn tensors around take {} of the convolutions' time, {} a step; with channels "
      "last they go, and convolutions and batch norms have faster kernels: {} become about {} a "
      "step.",
      derived("kernel_summary", "share of the convolutions' time",
              percentage(turning, convolutions), "%"),
      derived("kernel_summary", "time per step", in_ms(c.per_step(turning)), "ms"),
      derived("unified_perf_summary", "GPU time per step of what changes",
              in_ms(c.per_step(found.before_ns())), "ms"),
      derived("roofline", "time per step with channels last", in_ms(c.per_step(found.after_ns())),
              "ms"));
  draft.formula = fmt::format(
      "transposes -> 0; convolutions around them -> {:.0f}% of peak, batch norms -> {:.0f}% of "
      "bandwidth (low: transposes alone)",
      100 * n["of_peak"], 100 * n["of_bandwidth"]);
  draft.tries = {"model.to(memory_format=torch.channels_last) and the same for its input"};
  draft.verify = {.table = "kernel_summary",
                  .column = "time per step",
                  .now = in_ms(c.per_step(turning)),
                  .expected = "no transposes",
                  .is_derived = true};
  const bool is_sure = static_cast<double>(found.before_ns()) <=
                       n["sure_factor"] * static_cast<double>(found.after_ns());
  draft.confidence = is_sure ? Confidence::kHigh : Confidence::kMedium;
  return draft;
}

}  // namespace conv_2

extern const Rule kConv2;
constinit const Rule kConv2 = {.id = "CONV-2",
                               .title = "Layout conversions around convolutions",
                               .numbers = conv_2::kNumbers,
                               .find = conv_2::find};

}  // namespace tracelens
