// HOST-2: work is queued in time, yet the GPU pauses between one kernel and the next.
#include <fmt/format.h>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace host_2 {

constexpr Number kNumbers[] = {
    {"least_pct", 3, "% of the critical path between queued kernels"},
    {"least_kernels", 200, "kernels per step"},
    {"least_gap_us", 0.5, "us of such a pause, on average"},
    {"factor", 0.5, "what is left of a pause"},
    {"low_factor", 0.8, "the same for the low estimate"},
    {"high_factor", 0.3, "the same for the high estimate"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const std::int64_t on_path = c.on_path_ns(BoundBy::kGpuGap);
  const double kernels =
      static_cast<double>(c.gpu_events().size()) / static_cast<double>(c.steps());
  if (c.share(on_path) < n["least_pct"] || kernels < n["least_kernels"]) return std::nullopt;
  Draft draft;
  draft.low.emplace();
  draft.high.emplace();
  std::int64_t pauses = 0;
  const auto part = [](std::int64_t ns, double factor) {
    return static_cast<std::int64_t>(static_cast<double>(ns) * factor);
  };
  for (const PathSegment& segment : c.path().segments()) {
    if (segment.kind != EdgeKind::kKernelGap) continue;
    const std::int64_t length = segment.end_ns - segment.start_ns;
    draft.edit.set_kernel_gap(segment.to, part(length, n["factor"]));
    draft.low->set_kernel_gap(segment.to, part(length, n["low_factor"]));
    draft.high->set_kernel_gap(segment.to, part(length, n["high_factor"]));
    ++pauses;
  }
  if (pauses == 0) return std::nullopt;
  const double mean_us = in_ms(on_path) * 1e3 / static_cast<double>(pauses);
  if (mean_us < n["least_gap_us"]) return std::nullopt;
  draft.verdict = draft.tell(
      "Between kernels that are queued in time the GPU pauses {} times, {} each, {} of the critical "
      "path.",
      proof("critical_path_summary", "segments", static_cast<double>(pauses), "",
            {{"bound_by", "gpu_gap"}}),
      derived("critical_path_summary", "mean time", mean_us, "us", {{"bound_by", "gpu_gap"}}),
      proof("critical_path_summary", "pct_of_window", c.share(on_path), "%",
            {{"bound_by", "gpu_gap"}}));
  draft.formula = fmt::format("pauses between kernels x {}", n["factor"]);
  draft.tries = {"replay the step as a graph: its kernels follow each other more closely",
                 "fewer, longer kernels: torch.compile, fused ops"};
  draft.verify = {.table = "critical_path_summary",
                  .column = "pct_of_window without the profiler",
                  .now = c.share(on_path),
                  .expected = fmt::format("< {}", n["least_pct"]),
                  .is_derived = true,
                  .key = {{"bound_by", "gpu_gap"}}};
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace host_2

extern const Rule kHost2;
constinit const Rule kHost2 = {.id = "HOST-2",
                               .title = "Pauses between queued kernels",
                               .is_generic = true,
                               .needs_whole_graphs = true,
                               .numbers = host_2::kNumbers,
                               .find = host_2::find};

}  // namespace tracelens
