// FUSE-1: chains of small kernels that one kernel could do.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/fusion/fusible.hpp"
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace fuse_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 1, "% of the GPU's busy time that fusing saves"},
    {"of_bandwidth", 0.7, "of the memory bandwidth that a fused kernel reaches"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const auto bandwidth = c.bandwidth();
  if (!bandwidth) return std::nullopt;
  Draft draft;
  Collected found{c, draft};
  std::map<std::pair<std::string, ProgramPhase>, FindingPlace> places;
  double chains = 0, kernels = 0;
  for (const FusibleRun& run : fusible_runs(c.fusion(), n["of_bandwidth"] * *bandwidth / 1e9)) {
    const EventId call = c.tree().launch_of(run.kernels.front());
    if (!call.valid() || !c.in_window(c.trace.ts_ns()[call.row]) || run.time_ns <= 0 ||
        !std::ranges::all_of(run.kernels, [&](EventId kernel) { return c.is_free(kernel); }))
      continue;
    const double factor = static_cast<double>(run.fused_ns) / static_cast<double>(run.time_ns);
    for (const EventId kernel : run.kernels) found.scale(kernel, factor);
    for (const EventId op : run.ops)
      found.scale_host(op, 1 / static_cast<double>(std::max<std::size_t>(1, run.ops.size())));
    FindingPlace& place = places[{run.unit, run.phase}];
    if (++place.count == 1) {
      place.kind = "module";
      place.name = fmt::format("{} {}", run.unit, phase_name(run.phase));
      place.python = c.python_line(call);
      place.shape = run.ops.empty() ? std::string{} : c.shape_of(run.ops.front());
    }
    place.time_ns += run.time_ns;
    ++chains;
    kernels += static_cast<double>(run.kernels.size());
  }
  const std::int64_t saved = found.before_ns() - found.after_ns();
  if (chains == 0 || c.busy_share(saved) < n["least_gpu_pct"]) return std::nullopt;
  for (auto& [key, place] : places) draft.where.push_back(std::move(place));
  std::ranges::stable_sort(draft.where, std::ranges::greater{}, &FindingPlace::time_ns);

  const auto steps = static_cast<double>(c.steps());
  draft.verdict = draft.tell(
      "{} kernels a step stand in {} of kernels that read and write the same tensors again; they "
      "take {} a step, as one kernel each about {}.",
      derived("fusible_kernels", "kernels per step", kernels / steps, ""),
      counted(derived("fusible_kernels", "count per step", chains / steps, ""), "chain", "chains"),
      derived("fusible_kernels", "time_ms per step", in_ms(c.per_step(found.before_ns())), "ms"),
      derived("fusible_kernels", "fused_ms per step", in_ms(c.per_step(found.after_ns())), "ms"));
  draft.formula = fmt::format(
      "each chain -> its largest tensor in and out at {:.0f}% of the memory bandwidth; its host "
      "time -> that of one op",
      100 * n["of_bandwidth"]);
  draft.tries = {"torch.compile of the module",
                 "a fused op of the library (layer_norm, rms_norm, "
                 "gelu, silu) instead of its formula"};
  draft.verify = {.table = "fusible_kernels",
                  .column = "kernels per step",
                  .now = kernels / steps,
                  .expected = fmt::format("about {}", figure(chains / steps, "")),
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace fuse_1

extern const Rule kFuse1;
constinit const Rule kFuse1 = {.id = "FUSE-1",
                               .title = "Chains of kernels that one could do",
                               .numbers = fuse_1::kNumbers,
                               .find = fuse_1::find};

}  // namespace tracelens
