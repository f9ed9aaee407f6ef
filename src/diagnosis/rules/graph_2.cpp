// GRAPH-2: graphs launch the work, but many or small ones.
#include <fmt/format.h>

#include <string>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/graph_launches.hpp"

namespace tracelens {
namespace graph_2 {

constexpr Number kNumbers[] = {
    {"least_coverage_pct", 50, "% of GPU time that graphs launch"},
    {"small", 20, "GPU events per graph launch; fewer are a small graph"},
    {"many", 20, "graph launches per step; more are many"},
    {"factor", 0.5, "what is left of host time between graph launches"},
    {"least_pct", 1, "% of the window that mending saves"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const GraphLaunches graphs = graph_launches_of(c);
  if (graphs.launches < 2 || graphs.coverage_pct < n["least_coverage_pct"]) return std::nullopt;
  const double per_launch =
      static_cast<double>(graphs.gpu_events) / static_cast<double>(graphs.launches);
  const double per_step = static_cast<double>(graphs.launches) / static_cast<double>(c.steps());
  if (per_step < 2 || (per_launch >= n["small"] && per_step <= n["many"])) return std::nullopt;
  Draft draft;
  EventId before;
  std::int64_t between = 0;
  for (const EventId call : graphs.calls) {
    if (before.valid() && c.trace.tracks()[before.row] == c.trace.tracks()[call.row]) {
      const std::int64_t from = c.trace.end_ns(before), to = c.trace.ts_ns()[call.row];
      if (to > from && c.step_at(from) == c.step_at(to)) {
        draft.edit.scale_host(c.trace.tracks()[call.row], from, to, n["factor"]);
        between += to - from;
      }
    }
    before = call;
  }
  if (c.share(c.saving_ns(draft.edit)) < n["least_pct"]) return std::nullopt;
  draft.verdict = draft.tell(
      "{} graphs a step launch {} each; between them the host spends {} a step.",
      proof("step_phases", "graph_launches", per_step, "", {{"step", "mean"}}),
      counted(derived("step_phases", "GPU events per graph launch", per_launch, ""), "GPU event",
              "GPU events"),
      derived("step_phases", "time between graph launches", in_ms(c.per_step(between)), "ms"));
  draft.formula = fmt::format("host time between graph launches x {}", n["factor"]);
  draft.where = {{.kind = "call",
                  .name = std::string{c.trace.name(*graphs.calls.begin())},
                  .python = c.python_line(*graphs.calls.begin()),
                  .time_ns = between,
                  .count = static_cast<std::int64_t>(graphs.launches)}};
  draft.tries = {"capture the whole step instead of its pieces",
                 "merge neighbouring graphs: fewer splits around attention and collectives"};
  draft.verify = {.table = "step_phases",
                  .column = "graph_launches",
                  .now = per_step,
                  .expected = fmt::format("< {}", n["many"]),
                  .key = {{"step", "mean"}}};
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace graph_2

extern const Rule kGraph2;
constinit const Rule kGraph2 = {.id = "GRAPH-2",
                                .title = "Many or small graphs",
                                .is_generic = true,
                                .needs_whole_graphs = true,
                                .numbers = graph_2::kNumbers,
                                .find = graph_2::find};

}  // namespace tracelens
