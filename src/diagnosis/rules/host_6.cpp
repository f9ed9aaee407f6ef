// HOST-6: the host computes while the GPU waits: tensor ops on the CPU, or plain Python.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/host/user_frames.hpp"
#include "analysis/path/graph.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace host_6 {

constexpr Number kNumbers[] = {
    {"least_us", 200, "us of an op, or of a stretch of Python, without the profiler"},
    {"least_pct", 1, "% of the window that mending saves"},
};

// A stretch of a thread in which it launches nothing.
struct Stretch {
  TrackId track;
  Interval time;
  std::int64_t work_ns = 0;  // without the profiler and without waits
  EventId op = {};           // invalid: no op was open
  EventId frame = {};        // the user's code; invalid: not recorded
};

bool is_loading(const DiagnosisContext& c, TrackId track, std::int64_t ts_ns) {
  return in_ranges(c.ranges().data_loading(), track, ts_ns);
}

void add_ops(const DiagnosisContext& c, std::int64_t least_ns, std::vector<Stretch>& found) {
  for (const EventId op : c.tree().op_roots()) {
    const TrackId track = c.trace.tracks()[op.row];
    const std::int64_t start = c.trace.ts_ns()[op.row];
    if (c.dur_ns(op) < least_ns || !c.in_window(start) || is_loading(c, track, start)) continue;
    const NodeId node = c.tree().node(op);
    bool calls = false;
    for (std::uint32_t at = node.row; at < c.tree().end(node).row && !calls; ++at)
      calls = is_runtime(c.trace.category(c.tree().event(NodeId{at})));
    if (calls) continue;
    const std::int64_t work = c.path().host_ns(track, start, c.trace.end_ns(op));
    if (work >= least_ns)
      found.push_back(
          {.track = track, .time = {start, c.trace.end_ns(op)}, .work_ns = work, .op = op});
  }
}

// Where no op and no call is open. A thread that waits for another one does no work.
void add_python(const DiagnosisContext& c, std::int64_t least_ns, std::vector<Stretch>& found) {
  const PathGraph& graph = c.path().graph();
  for (const PathGraph::HostLane& lane : graph.host_lanes()) {
    if (graph.launches_of(lane) == 0) continue;
    for (PathPoint point = lane.first; point < lane.end; ++point) {
      if (graph.lane_owner(point).valid()) continue;
      const Interval time{
          std::max(c.time().start, point == lane.first ? c.time().start : graph.time(point - 1)),
          graph.time(point)};
      if (time.end - time.start < least_ns || time.end > c.time().end ||
          is_loading(c, lane.track, time.start))
        continue;
      const std::int64_t work = c.path().host_ns(lane.track, time.start, time.end);
      if (work >= least_ns) found.push_back({.track = lane.track, .time = time, .work_ns = work});
    }
  }
}

// The innermost frame that holds most of a stretch, where that is the user's code and not the
// framework's or the profiler's.
void name_frames(const DiagnosisContext& c, std::int64_t least_ns, std::vector<Stretch>& found) {
  std::ranges::sort(found, {}, [](const Stretch& s) { return std::pair{s.track, s.time.start}; });
  for (const EventId event : c.trace.recorded_events()) {
    if (c.trace.category(event) != Category::kPythonFunction || c.dur_ns(event) < least_ns / 2 ||
        c.trace.ts_ns()[event.row] == kAbsent || c.trace.name(event).starts_with('<'))
      continue;
    const std::int64_t start = c.trace.ts_ns()[event.row], end = c.trace.end_ns(event);
    const TrackId track = c.trace.tracks()[event.row];
    auto at = std::ranges::lower_bound(found, std::pair{track, start}, {}, [](const Stretch& s) {
      return std::pair{s.track, s.time.end};
    });
    for (; at != found.end() && at->track == track && at->time.start < end; ++at) {
      const std::int64_t both = std::min(end, at->time.end) - std::max(start, at->time.start);
      if (both * 2 < at->time.end - at->time.start) continue;
      if (!at->frame.valid() || c.dur_ns(event) < c.dur_ns(at->frame)) at->frame = event;
    }
  }
  for (Stretch& stretch : found) {
    if (!stretch.frame.valid() || is_user_frame(c.trace.name(stretch.frame))) continue;
    if (stretch.op.valid()) {
      stretch.frame = {};
      continue;
    }
    stretch.work_ns = 0;
  }
}

// "train.py(12): prepare" -> "prepare"
std::string function_of(const std::string& line) {
  const auto colon = line.rfind(": ");
  return colon == line.npos ? line : line.substr(colon + 2);
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  // What stands for ops in a JAX profile are programs that run on the GPU.
  if (!c.path().usable() || c.facts.kind() == TraceKind::kJax) return std::nullopt;
  const auto least_ns = static_cast<std::int64_t>(n["least_us"] * 1e3);
  std::vector<Stretch> found;
  add_ops(c, least_ns, found);
  add_python(c, least_ns, found);
  // Where no step says that it belongs to the loop, what comes before all GPU work is preparation.
  if (c.window.steps.empty())
    std::erase_if(found, [&](const Stretch& stretch) {
      return c.launches_between(c.time().start, stretch.time.end) == 0;
    });
  name_frames(c, least_ns, found);

  struct Place {
    std::vector<const Stretch*> stretches;
    std::set<std::size_t> steps;
  };
  std::map<std::pair<std::string, std::string>, Place> places;
  for (const Stretch& stretch : found) {
    if (stretch.work_ns == 0 || (!stretch.op.valid() && !stretch.frame.valid())) continue;
    const std::string line =
        stretch.op.valid() ? c.python_line(stretch.op) : std::string{c.trace.name(stretch.frame)};
    const std::string name =
        stretch.op.valid() ? std::string{c.trace.name(stretch.op)} : function_of(line);
    Place& place = places[{name, line}];
    place.stretches.push_back(&stretch);
    place.steps.insert(c.step_at((stretch.time.start + stretch.time.end) / 2).value_or(c.steps()));
  }
  Draft draft;
  std::int64_t in_ops = 0, in_python = 0;
  for (const auto& [key, place] : places) {
    if (c.steps() > 1 && place.steps.size() * 2 <= c.steps()) continue;  // no habit of the loop
    const EventId op = place.stretches.front()->op;
    FindingPlace& shown = draft.where.emplace_back(
        FindingPlace{.kind = op.valid() ? "op" : "range",
                     .name = key.first,
                     .python = key.second == key.first ? std::string{} : key.second});
    if (op.valid()) shown.shape = c.shape_of(op);
    for (const Stretch* const stretch : place.stretches) {
      draft.edit.set_host(stretch->track, stretch->time.start, stretch->time.end, 0);
      (stretch->op.valid() ? in_ops : in_python) += stretch->work_ns;
      shown.time_ns += stretch->work_ns;
      ++shown.count;
    }
  }
  if (draft.where.empty() || c.share(c.saving_ns(draft.edit)) < n["least_pct"]) return std::nullopt;
  const auto largest = std::ranges::max_element(draft.where, {}, &FindingPlace::time_ns);
  const std::int64_t per_step = c.per_step(in_ops + in_python);
  draft.verdict = draft.tell(
      "For {} a step the host computes by itself and launches nothing; {} of it in {}{}.",
      derived("gpu_gaps", "host time per step without launches", in_ms(per_step), "ms"),
      derived("gpu_gaps", "largest of them", in_ms(c.per_step(largest->time_ns)), "ms"),
      largest->name, largest->python.empty() ? "" : ", " + largest->python);
  draft.formula = "these ops and stretches of Python -> 0";
  if (in_ops > 0)
    draft.tries.push_back("make these tensors on the GPU: device='cuda' from the start");
  if (in_python > 0)
    draft.tries.push_back("take the Python work out of the loop, or do it with tensor ops");
  draft.tries.push_back("do it in a worker process (DataLoader, num_workers > 0), one batch ahead");
  draft.verify = {.table = "gpu_gaps",
                  .column = "host time per step without launches",
                  .now = in_ms(per_step),
                  .expected = "0",
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace host_6

extern const Rule kHost6;
constinit const Rule kHost6 = {.id = "HOST-6",
                               .title = "Work on the CPU that the GPU waits for",
                               .numbers = host_6::kNumbers,
                               .find = host_6::find};

}  // namespace tracelens
