// JAX-2: XLA left copies, transposes, conversions and broadcasts as kernels of their own.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "analysis/jax/kernels.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace jax_2 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 5, "% of the GPU's busy time in such kernels"},
    {"low_factor", 0.5, "what is left of them, for the low estimate"},
};

bool is_alone(std::string_view name) {
  constexpr std::string_view kWrapped = "wrapped_";
  if (name.starts_with(kWrapped)) name.remove_prefix(kWrapped.size());
  for (const std::string_view word : {"copy", "transpose", "convert", "broadcast"}) {
    if (!name.starts_with(word)) continue;
    // "transpose_multiply_fusion" is more than a transpose.
    return name.size() == word.size() || name.find("fusion") == name.npos;
  }
  return false;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (c.facts.kind() != TraceKind::kJax) return std::nullopt;
  const JaxOps ops{c.trace};
  Draft draft;
  draft.low.emplace();
  std::map<std::string, FindingPlace> places;
  std::int64_t alone = 0, fused = 0, rest = 0;
  const JaxKernels kernels{c.trace, c.tree(), ops};
  for (const JaxKernel& kernel : kernels.all()) {
    if (!c.in_window(c.trace.ts_ns()[kernel.event.row])) continue;
    const std::string_view name = c.trace.name(kernel.event);
    const std::string_view op = kernel.op == nullptr ? name : std::string_view{kernel.op->name};
    if (is_alone(op) && c.is_free(kernel.event)) {
      alone += kernel.dur_ns;
      draft.edit.set_gpu(kernel.event, 0);
      draft.low->scale_gpu(kernel.event, n["low_factor"]);
      FindingPlace& place = places[std::string{op}];
      place.time_ns += kernel.dur_ns;
      ++place.count;
    }
    if (kernel.category == "GEMM" || kernel.category == "Conv" ||
        kernel.category.starts_with("FA") || kernel.category.starts_with("Comm"))
      continue;
    (op.find("fusion") != op.npos || name.find("fusion") != name.npos ? fused : rest) +=
        kernel.dur_ns;
  }
  if (alone == 0 || c.busy_share(alone) < n["least_gpu_pct"]) return std::nullopt;
  for (auto& [name, place] : places) {
    place.kind = "op";
    place.name = name;
    draft.where.push_back(std::move(place));
  }
  const double coverage = percentage(fused, fused + rest);
  draft.verdict = draft.tell(
      "Copies, transposes, conversions and broadcasts of their own take {}, {} of the GPU's busy "
      "time; fusions hold {} of the kernels that are no products.",
      derived("hlo_ops", "time", in_ms(alone), "ms"),
      derived("hlo_ops", "share of busy time", c.busy_share(alone), "%"),
      derived("xla_summary", "share of fusions", coverage, "%"));
  draft.formula = "these kernels -> 0 (low: half)";
  draft.tries = {"one layout and one type for neighbouring ops",
                 "do not return intermediate results from jit", "XLA flags for layouts and fusion"};
  draft.verify = {.table = "hlo_ops",
                  .column = "share of busy time",
                  .now = c.busy_share(alone),
                  .expected = fmt::format("< {}", figure(n["least_gpu_pct"], "%")),
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace jax_2

extern const Rule kJax2;
constinit const Rule kJax2 = {.id = "JAX-2",
                              .title = "Kernels that XLA did not fuse",
                              .numbers = jax_2::kNumbers,
                              .find = jax_2::find};

}  // namespace tracelens
