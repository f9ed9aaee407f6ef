// SERVE-1: between the steps of a serving engine the GPU waits for the scheduler.
#include <fmt/format.h>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/serve_steps.hpp"

namespace tracelens {
namespace serve_1 {

constexpr Number kNumbers[] = {
    {"least_pct", 10, "% of the window in which the GPU idles between steps"},
    {"factor", 0.3, "what is left of the host's time between steps"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const std::vector<ServedWindowStep> steps = served_steps(c);
  Draft draft;
  const TrackId track = c.path().usable() ? c.path().launching_track() : TrackId{};
  std::int64_t idle = 0, count = 0, last_end = 0;
  const ServedWindowStep* before = nullptr;
  for (const ServedWindowStep& step : steps) {
    if (step.gpu_end_ns == 0) continue;
    if (before != nullptr) {
      if (step.gpu_start_ns > last_end) {
        idle += step.gpu_start_ns - last_end;
        ++count;
      }
      if (track.valid() && step.step->start_ns > before->step->end_ns)
        draft.edit.scale_host(track, before->step->end_ns, step.step->start_ns, n["factor"]);
    }
    last_end = std::max(last_end, step.gpu_end_ns);
    before = &step;
  }
  if (count == 0 || c.share(idle) < n["least_pct"]) return std::nullopt;
  draft.idle_ns = static_cast<std::int64_t>((1 - n["factor"]) * static_cast<double>(idle));
  draft.where = {{.kind = "range", .name = "between steps", .time_ns = idle, .count = count}};
  draft.verdict = draft.tell(
      "Between {} of steps the GPU idles {} in all, {} of the window: the engine schedules, "
      "samples or answers before it launches the next step.",
      counted(derived("serving_steps", "steps with a gap before", static_cast<double>(count), ""),
              "pair", "pairs"),
      derived("serving_steps", "GPU gap between steps", in_ms(idle), "ms"),
      derived("serving_steps", "GPU gap between steps of window", c.share(idle), "%"));
  draft.formula = fmt::format("host time between steps x {}", n["factor"]);
  draft.tries = {"asynchronous scheduling: prepare the next step while this one runs",
                 "fewer host ops per step; sampling on the GPU",
                 "detokenise and answer in another process"};
  draft.verify = {
      .table = "serving_steps",
      .column = "GPU gap between steps",
      .now = in_ms(idle),
      .expected = fmt::format("< {}", figure(n["least_pct"] / 100 * in_ms(c.length_ns()), "ms")),
      .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace serve_1

extern const Rule kServe1;
constinit const Rule kServe1 = {.id = "SERVE-1",
                                .title = "Idle between serving steps",
                                .needs_whole_graphs = true,
                                .numbers = serve_1::kNumbers,
                                .find = serve_1::find};

}  // namespace tracelens
