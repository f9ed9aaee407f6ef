// SERVE-4: steps that only generate launch their kernels one by one, where a graph would do.
#include "analysis/path/graph.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/serve_steps.hpp"

namespace tracelens {
namespace serve_4 {

constexpr Number kNumbers[] = {
    {"most_coverage_pct", 50, "% of their GPU time that graphs launch"},
    {"least_launches", 20, "GPU events per step that no graph launches"},
    {"launch_us", 10, "us that launching the graph takes"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (!c.path().usable()) return std::nullopt;
  Draft draft;
  const TrackId launching = c.path().launching_track();
  std::int64_t steps = 0, gpu_ns = 0, graph_ns = 0, events = 0, wall_ns = 0;
  for (const ServedWindowStep& one : served_steps(c)) {
    if (one.step->said.phase != ServingPhase::kDecode) continue;
    ++steps;
    gpu_ns += one.gpu_ns;
    graph_ns += one.graph_ns;
    events += one.one_by_one;
    wall_ns += one.step->wall_ns;
    for (const PathGraph::HostLane& lane : c.path().graph().host_lanes())
      draft.edit.set_host(
          lane.track, one.step->start_ns, one.step->end_ns,
          lane.track == launching ? static_cast<std::int64_t>(n["launch_us"] * 1e3) : 0);
  }
  if (steps == 0 || gpu_ns == 0) return std::nullopt;
  const double coverage = percentage(graph_ns, gpu_ns);
  const double launches = static_cast<double>(events) / static_cast<double>(steps);
  if (coverage >= n["most_coverage_pct"] || launches < n["least_launches"]) return std::nullopt;
  draft.where = {
      {.kind = "range", .name = "steps that decode", .time_ns = wall_ns, .count = steps}};
  draft.verdict = draft.tell(
      "In {} the host launches {} each; graphs hold {} of their GPU time.",
      counted(
          derived("serving_steps", "steps", static_cast<double>(steps), "", {{"phase", "decode"}}),
          "step that only generates", "steps that only generate"),
      counted(derived("serving_steps", "GPU events per step outside of graphs", launches, "",
                      {{"phase", "decode"}}),
              "kernel", "kernels"),
      derived("serving_steps", "graph coverage", coverage, "%", {{"phase", "decode"}}));
  draft.formula = "host time of a step that decodes -> one launch call";
  draft.tries = {"let the engine record graphs (no enforce_eager) for the batch sizes that occur",
                 "shapes and sampling that a graph can hold"};
  draft.verify = {.table = "serving_steps",
                  .column = "graph coverage",
                  .now = coverage,
                  .expected = "> 90%",
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace serve_4

extern const Rule kServe4;
constinit const Rule kServe4 = {.id = "SERVE-4",
                                .title = "Decode without graphs",
                                .is_generic = true,
                                .needs_whole_graphs = true,
                                .numbers = serve_4::kNumbers,
                                .find = serve_4::find};

}  // namespace tracelens
