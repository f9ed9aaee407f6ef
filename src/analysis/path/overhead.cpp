#include "analysis/path/overhead.hpp"

#include <algorithm>

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr int kFewCalls = 3;  // an op with no more, one of which waits, is a round trip

struct Marks {
  std::int64_t cost = 0;
  bool compiled = false;  // some are of launches in compiled code
};

// What recording costs, by the point that ends the stretch the marks lie in.
std::vector<Marks> costs_of_marks(const PathGraph& graph, const RecordingCosts& costs,
                                  Interval window) {
  std::vector<Marks> by_point(graph.size());
  const Trace& trace = graph.trace();
  const std::int64_t op = is_recorded_in_full(trace) ? costs.op_ns : costs.plain_op_ns;
  std::vector<const PathGraph::HostLane*> lanes(trace.track_table().size());
  for (const PathGraph::HostLane& lane : graph.host_lanes()) lanes[lane.track.row] = &lane;
  std::vector<char> compiled_names(trace.string_count());  // 1: of compiled code, 2: no such
  const auto is_compiled = [&](EventId event) {
    char& known = compiled_names[trace.names()[event.row].row];
    if (known == 0) known = trace.name(event).starts_with("triton_") ? 1 : 2;
    return known == 1;
  };
  std::vector<PathPoint> found(trace.track_table().size());  // by track: the point found last
  // The first point of the lane that is not before a time. Events mostly stand in order of time: it is
  // near the one found last.
  const auto first_from = [&](const PathGraph::HostLane& lane, std::int64_t time) {
    constexpr PathPoint kNear = 16;
    PathPoint& last = found[lane.track.row];
    PathPoint from = lane.first, to = lane.end;
    if (last > lane.first && graph.time(last - 1) < time) {
      from = last;
      if (lane.end - last > kNear && graph.time(last + kNear) >= time) to = last + kNear;
    }
    const auto begin = graph.times().begin();
    last = static_cast<PathPoint>(std::lower_bound(begin + from, begin + to, time) - begin);
    return last;
  };
  const auto add = [&](const PathGraph::HostLane& lane, std::int64_t time, std::int64_t cost,
                       bool compiled = false) {
    if (time <= window.start) return;
    const PathPoint after = first_from(lane, time);
    if (after == lane.end) return;
    Marks& marks = by_point[after];
    marks.cost += cost;
    marks.compiled = marks.compiled || compiled;
  };
  for (const EventId event : trace.recorded_events()) {
    const PathGraph::HostLane* lane = lanes[trace.tracks()[event.row].row];
    const std::int64_t start = trace.ts_ns()[event.row];
    if (lane == nullptr || start == kAbsent) continue;
    const Category category = trace.category(event);
    if (category == Category::kCpuInstant) {
      if (trace.name(event) == "[memory]") add(*lane, start, costs.memory_ns);
      continue;
    }
    if (trace.phase(event) != Phase::kComplete) continue;
    std::int64_t cost = 0;
    const bool compiled = category == Category::kCpuOp && is_compiled(event);
    if (category == Category::kCpuOp)
      cost = compiled ? op + costs.compiled_ns : op;
    else if (is_runtime(category))
      cost = costs.call_ns;
    else if (category == Category::kPythonFunction)
      cost = costs.python_ns;
    if (cost == 0) continue;
    add(*lane, start, cost / 2, compiled);
    add(*lane, end_of(trace, event), cost / 2, compiled);
  }
  return by_point;
}

// Calls that wait for the GPU, and ops around one with few other calls, by their start.
std::vector<bool> round_trips(const PathGraph& graph, const CallKinds& calls) {
  struct Below {
    PathPoint start;
    int calls = 0;
    bool waits = false;
  };
  std::vector<bool> found(graph.size());
  std::vector<Below> open;
  for (PathPoint point = 0; point < graph.size() && graph.is_host(point); ++point) {
    if (graph.is_start(point)) {
      open.push_back({point});
      continue;
    }
    Below done = open.back();
    open.pop_back();
    const EventId event = graph.event(point);
    if (is_runtime(graph.trace().category(event))) {
      ++done.calls;
      const bool waits_for_copy = std::ranges::any_of(graph.extra(point),
                                                      [](const PathGraph::Edge& edge) {
                                                        return edge.kind == EdgeKind::kSync;
                                                      }) &&
                                  calls.of(event) == CallClass::kLaunch;
      done.waits = done.waits || calls.of(event) == CallClass::kSync || waits_for_copy;
    }
    found[done.start] = done.waits && done.calls <= kFewCalls;
    if (!open.empty()) {
      open.back().calls += done.calls;
      open.back().waits = open.back().waits || done.waits;
    }
  }
  return found;
}

}  // namespace

bool is_recorded_in_full(const Trace& trace) {
  const bool has_shapes =
      std::ranges::any_of(trace.signature_table(),
                          [](const Signature& signature) { return !signature.dims.is_null(); });
  return has_shapes && std::ranges::find(trace.categories(), Category::kPythonFunction) !=
                           trace.categories().end();
}

void correct_overhead(const PathGraph& graph, const CallKinds& calls, const RecordingCosts& costs,
                      Interval window, PathLags& lags) {
  const std::vector<Marks> marks = costs_of_marks(graph, costs, window);
  const std::vector<bool> is_round_trip = round_trips(graph, calls);
  for (const PathGraph::HostLane& lane : graph.host_lanes()) {
    std::int64_t carry = 0;
    for (PathPoint point = lane.first; point < lane.end; ++point) {
      if (graph.time(point) <= window.start || graph.time(point) > window.end) continue;
      const EventId owner = graph.lane_owner(point);
      if (owner.valid() && is_round_trip[graph.start_of(owner)]) continue;
      const std::int64_t want = carry + marks[point].cost;
      const double share = marks[point].compiled ? costs.compiled_share : costs.largest_share;
      std::int64_t& lag = host_stretch(graph, lags, point, window.start).lag(lags, point);
      const auto most = static_cast<std::int64_t>(share * static_cast<double>(lag));
      const std::int64_t cut = std::min(want, most);
      lag -= cut;
      carry = std::min(want - cut, costs.carry_limit_ns);
    }
  }
}

}  // namespace tracelens
