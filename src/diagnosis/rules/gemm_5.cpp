// GEMM-5: matrix products in fp32 or fp64 on a GPU whose matrix units would take 16 bit or TF32.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "diagnosis/kit/attention.hpp"
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace gemm_5 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in such products"},
    {"of_peak", 0.6, "of the matrix peak that the faster kernels reach"},
    {"least_gain", 2, "times that the 16-bit peak must be above the fp32 one"},
};

bool is_attention(std::string_view category) { return category.starts_with("SDPA"); }

double keys_of(const tracelens::Work& work) {
  for (const Param& param : work.params)
    if (param.name == "N_KV") return param.value.as_real();
  return 0;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const auto peak16 = c.peak_flops("matrix_bf16"), peak32 = c.peak_flops("matrix_fp32");
  const auto peak_tf32 = c.peak_flops("matrix_tf32"), bandwidth = c.reached_bandwidth();
  if (!peak16 || !bandwidth || *peak16 < n["least_gain"] * peak32.value_or(0)) return std::nullopt;

  Draft draft;
  draft.low.emplace();
  std::int64_t products = 0, attention = 0, kept_ns = 0, doubles = 0;
  for (const OpGroup& group : c.op_groups()) {
    const bool attends = is_attention(group.category);
    if (group.work == nullptr || (!attends && !is_product(group.category))) continue;
    // Few mean fp64: its products are told as fp32 with TF32, which keeps more than enough for most.
    const bool is_double = group.work->compute_spec == "matrix_fp64" && peak_tf32.has_value();
    if (group.work->compute_spec != "matrix_fp32" && !is_double) continue;
    const double faster = is_double ? *peak_tf32 : *peak16;
    FindingPlace place{.kind = "op", .name = group.name};
    for (const std::uint32_t at : group.uses) {
      const OpUse& use = c.op_uses()[at];
      const bool is_wide = std::ranges::all_of(use.kernels, [&](EventId kernel) {
        return c.trace.name(kernel).find("tf32") == std::string_view::npos && c.is_free(kernel);
      });
      if (!is_wide || use.busy_ns <= 0) continue;
      const double reached = attends
                                 ? attention_efficiency(keys_of(*group.work)) *
                                       (group.category.ends_with("bwd") ? kBackwardAttention : 1)
                                 : n["of_peak"];
      const double bytes = group.work->bytes.value_or(0);
      const double seconds =
          std::max(group.work->flops / (reached * faster), bytes / 2 / *bandwidth);
      const double factor = std::min(1.0, seconds * 1e9 / static_cast<double>(use.busy_ns));
      for (const EventId kernel : use.kernels) {
        draft.edit.scale_gpu(kernel, factor);
        if (!attends && peak_tf32)
          draft.low->scale_gpu(kernel,
                               std::min(1.0, group.work->flops / (n["of_peak"] * *peak_tf32) * 1e9 /
                                                 static_cast<double>(use.busy_ns)));
      }
      (attends ? attention : products) += use.busy_ns;
      if (is_double) doubles += use.busy_ns;
      kept_ns += static_cast<std::int64_t>(factor * static_cast<double>(use.busy_ns));
      place.time_ns += use.busy_ns;
      ++place.count;
      if (place.count == 1) {
        place.shape = c.shape_of(use.event);
        place.module = c.module_of(use.event);
        place.python = c.python_line(use.event);
      }
    }
    if (place.count > 0) draft.where.push_back(std::move(place));
  }
  if (products == 0 || c.busy_share(products) < n["least_gpu_pct"]) return std::nullopt;

  const std::int64_t all = products + attention;
  const bool in_double = 2 * doubles > all;
  const std::string spec = in_double ? "matrix_fp64" : "matrix_fp32";
  draft.verdict = draft.tell(
      "Matrix products in {} take {} a step, {} of the GPU's busy time; in {} the same work would "
      "take about {}. Whether the accuracy allows it is for you to decide.",
      in_double ? "fp64" : "fp32",
      derived("unified_perf_summary", "Kernel Time (ms)_sum per step", in_ms(c.per_step(all)), "ms",
              {{"Compute Spec", spec}}),
      derived("unified_perf_summary", "share of busy time", c.busy_share(all), "%",
              {{"Compute Spec", spec}}),
      in_double ? "TF32" : "16 bit",
      derived("roofline", "time per step at the faster rate", in_ms(c.per_step(kept_ns)), "ms",
              {{"Compute Spec", in_double ? "matrix_tf32" : "matrix_bf16"}}));
  draft.formula = fmt::format("products at {:.0f}% of the {} peak (low: of the TF32 peak)",
                              100 * n["of_peak"], in_double ? "TF32" : "16-bit");
  if (in_double)
    draft.tries.push_back(
        "make the tensors fp32: NumPy arrays and Python numbers often bring in fp64");
  for (const char* const narrower : {"torch.backends.cuda.matmul.allow_tf32 = True, or "
                                     "torch.set_float32_matmul_precision('high')",
                                     "torch.autocast('cuda', dtype=torch.bfloat16)"})
    draft.tries.emplace_back(narrower);
  draft.verify = {.table = "unified_perf_summary",
                  .column = "Kernel Time (ms)_sum per step",
                  .now = in_ms(c.per_step(all)),
                  .expected = fmt::format("about {}", figure(in_ms(c.per_step(kept_ns)), "ms")),
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace gemm_5

extern const Rule kGemm5;
constinit const Rule kGemm5 = {.id = "GEMM-5",
                               .title = "Wider precision than needed",
                               .numbers = gemm_5::kNumbers,
                               .find = gemm_5::find};

}  // namespace tracelens
