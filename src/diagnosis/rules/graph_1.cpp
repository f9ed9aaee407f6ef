// GRAPH-1: every step launches the same work, one kernel after the other: a graph launches it at once.
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/path/graph.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/graph_launches.hpp"

namespace tracelens {
namespace graph_1 {

constexpr Number kNumbers[] = {
    {"least_launches", 20, "launches per step"},
    {"same_pct", 98, "% of a step's kernels that must be those of the first step"},
    {"most_coverage_pct", 50, "% of GPU time that graphs launch already"},
    {"least_idle_pct", 15, "% of the GPU's span that it idles"},
    {"least_path_pct", 30, "% of the critical path on the host"},
};

// Whether something in a step cannot be in a graph: a wait, memory from the driver, an optimizer.
bool can_be_graph(const DiagnosisContext& c) {
  const auto inside = [&](std::int64_t ts_ns, std::int64_t end_ns) {
    const auto step = c.step_at(ts_ns);
    // What closes a step may stay behind the graph.
    return step && c.launches_between(
                       end_ns, c.window.steps[*step].ts_ns + c.window.steps[*step].dur_ns) > 0;
  };
  for (const EventId call : c.host().calls()) {
    const CallClass kind = c.host().class_of(call);
    if ((kind == CallClass::kSync || kind == CallClass::kAlloc || kind == CallClass::kFree) &&
        inside(c.trace.ts_ns()[call.row], c.trace.end_ns(call)))
      return false;
  }
  return std::ranges::none_of(c.ranges().optimizer(),
                              [&](const HostRange& range) { return c.in_window(range.start_ns); });
}

std::vector<std::vector<EventId>> launched_by_step(const DiagnosisContext& c) {
  std::vector<std::vector<EventId>> steps(c.window.steps.size());
  for (const EventId event : c.gpu_events())
    if (const EventId call = recorded_launch_of(c.trace, c.tree(), event); call.valid())
      if (const auto step = c.step_at(c.trace.ts_ns()[call.row])) steps[*step].push_back(event);
  return steps;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (!c.path().usable() || c.window.steps.size() < 2) return std::nullopt;
  const double idle = percentage(c.gpu_times().idle_ns(), c.gpu_times().span_ns);
  const std::int64_t on_path = c.on_path_ns(BoundBy::kHostOp) + c.on_path_ns(BoundBy::kHostOther) +
                               c.on_path_ns(BoundBy::kHostRuntime);
  if (idle < n["least_idle_pct"] || c.share(on_path) < n["least_path_pct"] ||
      graph_launches_of(c).coverage_pct >= n["most_coverage_pct"])
    return std::nullopt;
  const std::vector<std::vector<EventId>> steps = launched_by_step(c);
  const std::size_t count = steps.front().size();
  if (static_cast<double>(count) < n["least_launches"]) return std::nullopt;
  for (const std::vector<EventId>& step : steps) {
    if (step.size() != count) return std::nullopt;
    std::size_t same = 0;
    for (std::size_t i = 0; i < count; ++i)
      same += c.trace.names()[step[i].row] == c.trace.names()[steps.front()[i].row];
    if (100.0 * static_cast<double>(same) < n["same_pct"] * static_cast<double>(count))
      return std::nullopt;
  }
  if (!can_be_graph(c)) return std::nullopt;

  std::vector<std::int64_t> calls;
  for (const EventId event : steps.front())
    calls.push_back(c.dur_ns(recorded_launch_of(c.trace, c.tree(), event)));
  std::ranges::nth_element(calls, calls.begin() + static_cast<std::ptrdiff_t>(count / 2));
  const std::int64_t launch_ns = calls[count / 2];

  Draft draft;
  const TrackId launching = c.path().launching_track();
  for (const PathGraph::HostLane& lane : c.path().graph().host_lanes())
    for (const Step& step : c.window.steps)
      draft.edit.set_host(lane.track, step.ts_ns, step.ts_ns + step.dur_ns,
                          lane.track == launching ? launch_ns : 0);
  draft.verdict = draft.tell(
      "Each step launches the same {} kernels in the same order, without a wait between them; the "
      "GPU idles {} of its span, the host holds {} of the critical path.",
      proof("step_phases", "launches", static_cast<double>(count), "", {{"step", "mean"}}),
      derived("gpu_gap_summary", "idle of span without the profiler", idle, "%"),
      derived("critical_path_summary", "pct_of_window of all host_*", c.share(on_path), "%"));
  draft.formula = "host time of a step -> one launch call";
  draft.where = {{.kind = "range",
                  .name = c.window.steps.front().name,
                  .time_ns = on_path,
                  .count = static_cast<std::int64_t>(c.window.steps.size())}};
  if (c.is_pytorch())
    draft.tries = {
        "torch.compile(mode='reduce-overhead')",
        "record the step as a CUDA or HIP graph (torch.cuda.graph), one per shape, and replay "
        "it; copy inputs into fixed tensors",
        "in a serving engine: graphs for the batch sizes that occur"};
  else
    draft.tries = {"record the launches of a step as a graph (hipGraph), and replay it"};
  draft.verify = {.table = "step_phases",
                  .column = "launches",
                  .now = static_cast<double>(count),
                  .expected = "< 5",
                  .key = {{"step", "mean"}}};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace graph_1

extern const Rule kGraph1;
constinit const Rule kGraph1 = {.id = "GRAPH-1",
                                .title = "The same launches in every step: a graph would do",
                                .is_generic = true,
                                .needs_whole_graphs = true,
                                .numbers = graph_1::kNumbers,
                                .find = graph_1::find};

}  // namespace tracelens
