#include "analysis/path/overhead.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr int kFewCalls = 3;  // an op with no more, one of which waits, is a round trip

// Half of what recording costs, by the point that ends the stretch the mark lies in.
std::vector<std::int64_t> costs_of_marks(const PathGraph& graph, const RecordingCosts& costs,
                                         Interval window) {
  std::vector<std::int64_t> by_point(graph.size());
  const Trace& trace = graph.trace();
  const std::int64_t op = is_recorded_in_full(trace) ? costs.op_ns : costs.plain_op_ns;
  std::vector<const PathGraph::HostLane*> lanes(trace.track_table().size());
  for (const PathGraph::HostLane& lane : graph.host_lanes()) lanes[lane.track.row] = &lane;
  const auto add = [&](const PathGraph::HostLane& lane, std::int64_t time, std::int64_t cost) {
    if (time <= window.start) return;
    const std::span<const std::int64_t> times =
        graph.times().subspan(lane.first, lane.end - lane.first);
    const auto after = std::ranges::lower_bound(times, time);
    if (after != times.end())
      by_point[lane.first + static_cast<std::size_t>(after - times.begin())] += cost;
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
    if (category == Category::kCpuOp)
      cost = op;
    else if (is_runtime(category))
      cost = costs.call_ns;
    else if (category == Category::kPythonFunction)
      cost = costs.python_ns;
    if (cost == 0) continue;
    add(*lane, start, cost / 2);
    add(*lane, end_of(trace, event), cost / 2);
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

// Code that a compiler generated slows down when Python is traced: at each call the tracer looks at
// all variables of the frame, of which such code has hundreds, and the launchers of its kernels
// describe their arguments for the profiler. How much of a stretch in such a frame between two calls
// is real.
constexpr std::int64_t kRealNs = 1000;
enum class Frame : std::uint8_t { kUnknown, kOther, kGenerated, kForProfiler };

// "c" and 51 more characters of base 32: what TorchInductor calls its files.
bool is_generated_file(std::string_view frame) {
  constexpr std::size_t kLength = 52;
  const std::size_t end = frame.find(".py(");
  if (end == std::string_view::npos || end < kLength) return false;
  const std::string_view hash = frame.substr(end - kLength, kLength);
  return hash[0] == 'c' && (end == kLength || frame[end - kLength - 1] == '/') &&
         std::ranges::all_of(
             hash, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'); });
}

Frame frame_kind(std::string_view name) {
  const bool is_launcher =
      name.find("torch/_inductor/runtime/triton_heuristics.py(") != std::string_view::npos;
  if (is_launcher && name.find("profiler_kwarg") != std::string_view::npos)
    return Frame::kForProfiler;
  if (is_launcher && name.ends_with(": run")) return Frame::kGenerated;
  const bool is_generated = name.ends_with(": call") && is_generated_file(name);
  return is_generated ? Frame::kGenerated : Frame::kOther;
}

class GeneratedCode {
 public:
  GeneratedCode(const PathGraph& graph, Interval window, PathLags& lags)
      : graph_{graph}, trace_{graph.trace()}, window_{window}, lags_{lags} {}

  void correct() {
    std::vector<Frame> kinds(trace_.string_count(), Frame::kUnknown);  // by StringId
    std::vector<bool> has_any(trace_.track_table().size());
    const auto is_open = [&](EventId event) {
      return trace_.phase(event) == Phase::kComplete && trace_.ts_ns()[event.row] != kAbsent;
    };
    for (const EventId event : trace_.recorded_events()) {
      if (trace_.category(event) != Category::kPythonFunction || !is_open(event)) continue;
      Frame& kind = kinds[trace_.names()[event.row].row];
      if (kind == Frame::kUnknown) kind = frame_kind(trace_.name(event));
      if (kind != Frame::kOther) has_any[trace_.tracks()[event.row].row] = true;
    }
    std::map<TrackId, std::vector<Open>> tracks;
    for (const EventId event : trace_.recorded_events()) {
      const Category category = trace_.category(event);
      const TrackId track = trace_.tracks()[event.row];
      if (!has_any[track.row] || !is_open(event) ||
          (category != Category::kPythonFunction && category != Category::kCpuOp &&
           !is_runtime(category)))
        continue;
      const Frame kind = category == Category::kPythonFunction
                             ? kinds[trace_.names()[event.row].row]
                             : Frame::kOther;
      tracks[track].push_back(
          {trace_.ts_ns()[event.row], end_of(trace_, event), kind, trace_.ts_ns()[event.row]});
    }
    for (auto& [track, events] : tracks)
      if (const PathGraph::HostLane* lane = graph_.lane_of(track); lane != nullptr)
        follow(*lane, events);
  }

 private:
  struct Open {
    std::int64_t start, end;
    Frame kind;
    std::int64_t seen;  // up to where its own time was looked at
  };

  void follow(const PathGraph::HostLane& lane, std::vector<Open>& events) {
    std::ranges::stable_sort(events, [](const Open& a, const Open& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    std::vector<Open> open;
    const auto own_time = [&](std::int64_t until) {
      Open& frame = open.back();
      if (frame.kind != Frame::kOther) take(lane, frame.seen, until, frame.kind);
    };
    const auto close = [&] {
      own_time(open.back().end);
      const std::int64_t end = open.back().end;
      open.pop_back();
      if (!open.empty()) open.back().seen = end;
    };
    for (const Open& event : events) {
      while (!open.empty() && open.back().end <= event.start) close();
      if (!open.empty()) own_time(event.start);
      open.push_back(event);
    }
    while (!open.empty()) close();
  }

  // What is not real in [from, to) goes from the lags of the stretches it lies in.
  void take(const PathGraph::HostLane& lane, std::int64_t from, std::int64_t to, Frame kind) {
    const std::int64_t excess = to - from - (kind == Frame::kForProfiler ? 0 : kRealNs);
    if (excess <= 0) return;
    const std::span<const std::int64_t> times = graph_.times();
    const auto begin = times.begin();
    auto point = static_cast<PathPoint>(
        std::upper_bound(begin + lane.first, begin + lane.end, from) - begin);
    for (point = std::max(point, lane.first + 1); point < lane.end; ++point) {
      const std::int64_t start = std::max({times[point - 1], from, window_.start}),
                         end = std::min(times[point], to);
      if (times[point - 1] >= to || times[point] > window_.end) return;
      if (end <= start) continue;
      const double share = static_cast<double>(end - start) / static_cast<double>(to - from);
      std::int64_t& lag = lags_.lane[point];
      lag = std::max<std::int64_t>(
          0, lag - static_cast<std::int64_t>(static_cast<double>(excess) * share));
    }
  }

  const PathGraph& graph_;
  const Trace& trace_;
  const Interval window_;
  PathLags& lags_;
};

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
  GeneratedCode{graph, window, lags}.correct();
  const std::vector<std::int64_t> marks = costs_of_marks(graph, costs, window);
  const std::vector<bool> is_round_trip = round_trips(graph, calls);
  for (const PathGraph::HostLane& lane : graph.host_lanes()) {
    std::int64_t carry = 0;
    for (PathPoint point = lane.first + 1; point < lane.end; ++point) {
      if (graph.time(point) <= window.start || graph.time(point) > window.end) continue;
      const EventId owner = graph.lane_owner(point);
      if (owner.valid() && is_round_trip[graph.start_of(owner)]) continue;
      const std::int64_t want = carry + marks[point];
      const auto most =
          static_cast<std::int64_t>(costs.largest_share * static_cast<double>(lags.lane[point]));
      const std::int64_t cut = std::min(want, most);
      lags.lane[point] -= cut;
      carry = std::min(want - cut, costs.carry_limit_ns);
    }
  }
}

}  // namespace tracelens
