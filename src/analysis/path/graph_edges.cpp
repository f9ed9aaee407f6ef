// What the points of a graph wait for, besides the one before in their lane.
#include <algorithm>
#include <string_view>

#include "analysis/path/graph_builder.hpp"
#include "analysis/path/point_order.hpp"
#include "analysis/path/stream_waits.hpp"
#include "facts/calls.hpp"
#include "io/parallel.hpp"
#include "tree/time_order.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kGuessWithinNs = 30000;  // a stream that waited starts at once
// No search for what a call or stream waited for looks at more events than this; only a damaged file
// has more that do not fit.
constexpr std::size_t kLongestSearch = 4096;

// Whether a thread runs the backward pass, by the names of its ops.
class BackwardLanes {
 public:
  explicit BackwardLanes(const Trace& trace) : is_backward_(trace.string_count()) {
    for (std::uint32_t id = 0; id < is_backward_.size(); ++id) {
      is_backward_[id] = trace.text({id}).starts_with("autograd::engine::evaluate_function");
      has_any_ = has_any_ || is_backward_[id];
    }
  }
  [[nodiscard]] bool contains(const PathGraph& graph, const PathGraph::HostLane& lane) const {
    for (PathPoint p = lane.first; has_any_ && p < lane.end; ++p)
      if (graph.is_start(p) && is_backward_[graph.trace().names()[graph.event(p).row].row])
        return true;
    return false;
  }

 private:
  std::vector<bool> is_backward_;  // by StringId
  bool has_any_ = false;
};

std::int64_t busy_ns(const PathGraph& graph, const PathGraph::HostLane& lane) {
  std::int64_t busy = 0;
  for (PathPoint p = lane.first + 1; p < lane.end; ++p)
    if (graph.lane_owner(p).valid()) busy += graph.time(p) - graph.time(p - 1);
  return busy;
}

}  // namespace

void PathGraphBuilder::add_launches() {
  g_.launches_.assign(g_.gpu_begin_, false);
  for (const auto& [gpu, call] : found_launches_) {
    const PathPoint start = g_.starts_[gpu.row], point = g_.starts_[call.row];
    if (start == kNoPoint || point == kNoPoint) continue;
    g_.calls_[g_.gpu_of(start)] = point;
    g_.launches_[point] = true;
  }
  found_launches_ = {};
}

// Those of GPU events come behind them, and are found in order.
void PathGraphBuilder::add_host_edges() {
  HostEdges edges, syncs;
  io::for_each_part(threads_, 2, [&](std::size_t part) {
    if (part == 0) {
      edges = find_handoffs();
    } else {
      sort_gpu_ends();
      syncs = find_syncs();
    }
  });
  edges.found.insert(edges.found.end(), syncs.found.begin(), syncs.found.end());
  std::ranges::stable_sort(edges.found, {}, &Found::to);
  g_.extra_.start(g_.size(), edges.found.size() + 2 * g_.gpu_count());
  for (const Found& found : edges.found) g_.extra_.add(found.to, found.edge);
  g_.dropped_ = edges.dropped + syncs.dropped;
}

bool PathGraphBuilder::is_possible(PathPoint from, PathPoint to, std::uint64_t& dropped) const {
  if (g_.times_[from] <= g_.times_[to]) return true;
  ++dropped;
  return false;
}

void PathGraphBuilder::add_host_edge(HostEdges& edges, PathPoint from, PathPoint to,
                                     EdgeKind kind) const {
  if (is_possible(from, to, edges.dropped)) edges.found.push_back({to, {from, kind}});
}

// Forward and backward pass run on threads of their own and wait for each other.
PathGraphBuilder::HostEdges PathGraphBuilder::find_handoffs() const {
  HostEdges edges;
  const BackwardLanes backward{trace_};
  const PathGraph::HostLane* forward = nullptr;
  std::vector<const PathGraph::HostLane*> backward_lanes;
  std::int64_t longest = -1;
  for (const PathGraph::HostLane& lane : g_.host_lanes_) {
    if (backward.contains(g_, lane)) {
      backward_lanes.push_back(&lane);
    } else if (const std::int64_t busy = busy_ns(g_, lane); busy > longest) {
      longest = busy;
      forward = &lane;
    }
  }
  if (forward == nullptr || backward_lanes.empty()) return edges;
  const std::vector<PathPoint> forward_ends = ends_of_all(*forward);
  std::vector<PathPoint> backward_ends;
  for (const PathGraph::HostLane* const lane : backward_lanes) {
    const std::vector<PathPoint> ends = ends_of_all(*lane);
    backward_ends.insert(backward_ends.end(), ends.begin(), ends.end());
    const PathPoint before = last_not_after(*forward, g_.times_[lane->first]);
    if (before != kNoPoint) add_host_edge(edges, before, lane->first, EdgeKind::kHandoff);
    hand_over(edges, *lane, forward_ends);
  }
  std::ranges::stable_sort(backward_ends, {}, time_of());
  hand_over(edges, *forward, backward_ends);
  return edges;
}

// Where the last open event of a thread ends.
std::vector<PathPoint> PathGraphBuilder::ends_of_all(const PathGraph::HostLane& lane) const {
  std::vector<PathPoint> ends;
  for (PathPoint p = lane.first; p < lane.end; ++p)
    if (!g_.is_start(p) && (p + 1 == lane.end || !g_.owners_[p + 1].valid())) ends.push_back(p);
  return ends;
}

PathPoint PathGraphBuilder::last_not_after(const PathGraph::HostLane& lane,
                                           std::int64_t time) const {
  const auto begin = g_.times_.begin();
  const auto after = std::upper_bound(begin + lane.first, begin + lane.end, time);
  return after == begin + lane.first ? kNoPoint : static_cast<PathPoint>(after - begin) - 1;
}

void PathGraphBuilder::hand_over(HostEdges& edges, const PathGraph::HostLane& lane,
                                 std::span<const PathPoint> ends) const {
  std::size_t next = 0;
  for (PathPoint p = lane.first + 1; p < lane.end; ++p) {
    if (g_.owners_[p].valid()) continue;
    while (next < ends.size() && g_.times_[ends[next]] <= g_.times_[p]) ++next;
    if (next > 0 && g_.times_[ends[next - 1]] > g_.times_[p - 1])
      add_host_edge(edges, ends[next - 1], p, EdgeKind::kHandoff);
  }
}

// What the start of a GPU event waits for.
void PathGraphBuilder::add_stream_edges() {
  const StreamWaits waits{trace_};
  PathPoint latest = kNoPoint;  // the end of the event of the lane that ended last
  for (std::size_t gpu = 0; gpu < g_.gpu_count(); ++gpu) {
    const PathPoint start = g_.gpu_start(gpu);
    const std::int64_t time = g_.times_[start];
    if (gpu > 0 && g_.gpu_lanes_[gpu] != g_.gpu_lanes_[gpu - 1]) latest = kNoPoint;
    std::optional<std::int64_t> before;
    const auto add = [&](PathPoint from, EdgeKind kind) {
      if (!is_possible(from, start, g_.dropped_)) return;
      g_.extra_.add(start, {from, kind});
      before = std::max(before.value_or(g_.times_[from]), g_.times_[from]);
    };
    if (latest != kNoPoint) add(latest, EdgeKind::kKernelGap);
    if (g_.calls_[gpu] != kNoPoint) add(g_.calls_[gpu], EdgeKind::kLaunch);
    if (!waits.empty())
      if (const EventId source = waits.source(g_.event(start)); source.valid())
        add(g_.starts_[source.row] + 1, EdgeKind::kStreamEvent);
    if (!before || *before < time - kGuessWithinNs)
      if (const PathPoint other = guessed_wait(gpu, before); other != kNoPoint)
        add(other, EdgeKind::kStreamGuess);
    if (latest == kNoPoint || g_.times_[g_.gpu_end(gpu)] >= g_.times_[latest])
      latest = g_.gpu_end(gpu);
  }
}

PathPoint PathGraphBuilder::guessed_wait(std::size_t gpu,
                                         std::optional<std::int64_t> before) const {
  if (g_.lane_devices_.size() < 2) return kNoPoint;  // there is no other stream
  const std::int64_t time = g_.times_[g_.gpu_start(gpu)];
  auto candidate = std::ranges::upper_bound(gpu_ends_, time, {}, time_of());
  for (std::size_t tries = 0; candidate != gpu_ends_.begin() && tries < kLongestSearch; ++tries) {
    const PathPoint end = *--candidate;
    if (g_.times_[end] < time - kGuessWithinNs || (before && g_.times_[end] <= *before))
      return kNoPoint;
    const std::size_t other = g_.gpu_of(end);
    if (g_.gpu_lanes_[other] != g_.gpu_lanes_[gpu] && g_.device_of(other) == g_.device_of(gpu))
      return end;
  }
  return kNoPoint;
}

void PathGraphBuilder::sort_gpu_ends() {
  gpu_ends_.reserve(g_.gpu_count());
  for (std::size_t gpu = 0; gpu < g_.gpu_count(); ++gpu) gpu_ends_.push_back(g_.gpu_end(gpu));
  std::vector<std::uint32_t> scratch;
  sort_by_time(gpu_ends_, g_.times_, scratch);
}

// The end of a call that waits for the GPU.
PathGraphBuilder::HostEdges PathGraphBuilder::find_syncs() const {
  HostEdges edges;
  const CallKinds& calls = facts_.calls();
  struct Copy {
    PathPoint call, end;
  };
  std::vector<Copy> copies;  // that their own call waits for
  for (std::size_t gpu = 0; gpu < g_.gpu_count(); ++gpu)
    if (const PathPoint call = g_.calls_[gpu];
        call != kNoPoint && waits_for_copy(g_.event(call), g_.event(g_.gpu_start(gpu))))
      copies.push_back({call, g_.gpu_end(gpu)});
  std::ranges::stable_sort(copies, {}, &Copy::call);
  // The last copy of a call.
  const auto own_copy = [&](PathPoint call) {
    PathPoint last = kNoPoint;
    auto copy = std::ranges::lower_bound(copies, call, {}, &Copy::call);
    for (; copy != copies.end() && copy->call == call; ++copy)
      if (last == kNoPoint || g_.times_[copy->end] >= g_.times_[last]) last = copy->end;
    return last;
  };
  for (PathPoint end = 0; end < g_.gpu_begin_; ++end) {
    if (g_.is_start(end)) continue;
    const EventId call = g_.event(end);
    if (!is_runtime(trace_.category(call))) continue;
    const PathPoint start = g_.starts_[call.row];
    PathPoint source = copies.empty() ? kNoPoint : own_copy(start);
    if (source != kNoPoint) {
      if (g_.times_[source] <= g_.times_[start] || g_.times_[source] > g_.times_[end])
        source = kNoPoint;
    } else if (const WaitsFor target = calls.waits_for(call);
               target != WaitsFor::kNothing && target != WaitsFor::kOwnCopy) {
      source = last_work_in(start, end);
    }
    if (source != kNoPoint) add_host_edge(edges, source, end, EdgeKind::kSync);
  }
  return edges;
}

bool PathGraphBuilder::waits_for_copy(EventId call, EventId copy) const {
  return is_runtime(trace_.category(call)) &&
         (facts_.calls().waits_for(call) == WaitsFor::kOwnCopy ||
          (trace_.category(copy) == Category::kGpuMemcpy && is_pageable_copy(trace_.name(copy))));
}

// The work that ended last while a call ran, of what was launched before the call; where the
// launch is not in the trace, it came before the recording.
PathPoint PathGraphBuilder::last_work_in(PathPoint start, PathPoint end) const {
  auto candidate = std::ranges::upper_bound(gpu_ends_, g_.times_[end], {}, time_of());
  for (std::size_t tries = 0; candidate != gpu_ends_.begin() && tries < kLongestSearch; ++tries) {
    const PathPoint work = *--candidate;
    if (g_.times_[work] <= g_.times_[start]) return kNoPoint;
    const PathPoint launch = g_.calls_[g_.gpu_of(work)];
    if (launch == kNoPoint || g_.times_[launch] < g_.times_[start]) return work;
  }
  return kNoPoint;
}

// No time passes along a circle, so its edges take none: few points have such, and only these are
// looked at.
bool PathGraphBuilder::runs_in_circle() const {
  std::vector<PathPoint> suspects;
  g_.extra_.for_each([&](PathPoint to, const PathGraph::Edge& edge) {
    if (g_.times_[edge.from] >= g_.times_[to]) suspects.push_back(to);
  });
  if (suspects.empty()) return false;
  PointOrder order{
      g_, [this](PathPoint from, PathPoint to) { return g_.times_[from] >= g_.times_[to]; }};
  return !std::ranges::all_of(suspects, [&](PathPoint point) { return order.add(point); });
}

void PathGraphBuilder::drop_edges_without_time() {
  const ExtraEdges all = g_.extra_;
  g_.extra_.start(g_.size(), all.all().size());
  all.for_each([&](PathPoint to, const PathGraph::Edge& edge) {
    if (g_.times_[to] != g_.times_[edge.from]) g_.extra_.add(to, edge);
  });
  g_.extra_.finish();
  g_.dropped_ += all.all().size() - g_.extra_count();
}

}  // namespace tracelens
