#include "analysis/path/path.hpp"

#include <algorithm>

namespace tracelens {
namespace {

// The point of a window to walk back from; kNoPoint: it has none. Of several the last.
PathPoint last_point(const PathGraph& graph, std::optional<Interval> window) {
  PathPoint last = kNoPoint;
  const auto is_in = [&](PathPoint point) {
    if (!window) return true;
    if (!graph.is_host(point)) {
      point = graph.call_of(graph.gpu_of(point));
      if (point == kNoPoint) return false;
    }
    return graph.time(point) >= window->start && graph.time(point) <= window->end;
  };
  for (PathPoint point = 0; point < graph.size(); ++point)
    if (is_in(point) && (last == kNoPoint || graph.time(point) >= graph.time(last))) last = point;
  return last;
}

}  // namespace

int rank_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kSync:
      return 5;
    case EdgeKind::kStreamEvent:
    case EdgeKind::kStreamGuess:
      return 4;
    case EdgeKind::kHandoff:
      return 3;
    case EdgeKind::kKernelGap:
    case EdgeKind::kGpu:
      return 2;
    case EdgeKind::kLaunch:
    case EdgeKind::kHost:
      return 1;
    case EdgeKind::kGap:
      return 0;
  }
  return 0;
}

Predecessor binding(const PathGraph& graph, PathPoint point) {
  Predecessor best;
  const auto offer = [&](PathPoint from, EdgeKind kind, EventId owner) {
    if (best.from == kNoPoint || graph.time(from) > graph.time(best.from) ||
        (graph.time(from) == graph.time(best.from) && rank_of(kind) > rank_of(best.kind)))
      best = {from, kind, owner};
  };
  if (graph.follows(point)) offer(point - 1, graph.lane_kind(point), graph.lane_owner(point));
  for (const PathGraph::Edge& edge : graph.extra(point))
    offer(edge.from, edge.kind, edge.kind == EdgeKind::kHandoff ? EventId{} : graph.event(point));
  return best;
}

BoundBy BoundByClasses::of(const Predecessor& from, PathPoint to) const {
  switch (from.kind) {
    case EdgeKind::kGpu:
      switch (work_.of(graph_.event(to))) {
        case GpuWork::kCommunication:
          return BoundBy::kGpuCommunication;
        case GpuWork::kCopy:
          return BoundBy::kGpuMemcpy;
        default:
          return BoundBy::kGpuCompute;
      }
    case EdgeKind::kKernelGap:
      return BoundBy::kGpuGap;
    case EdgeKind::kLaunch:
      return BoundBy::kLaunchLatency;
    case EdgeKind::kStreamEvent:
    case EdgeKind::kStreamGuess:
      return BoundBy::kStreamWait;
    case EdgeKind::kSync:
      return BoundBy::kSyncReturn;
    case EdgeKind::kHandoff:
      return BoundBy::kThreadHandoff;
    case EdgeKind::kHost:
    case EdgeKind::kGap:
      break;
  }
  const Trace& trace = graph_.trace();
  if (in_ranges(ranges_.data_loading(), trace.tracks()[graph_.event(to).row],
                graph_.time(from.from)))
    return BoundBy::kDataLoading;
  if (!from.owner.valid()) return BoundBy::kHostOther;
  return is_runtime(trace.category(from.owner)) ? BoundBy::kHostRuntime : BoundBy::kHostOp;
}

CriticalPath walk_critical_path(const PathGraph& graph, const BoundByClasses& classes,
                                std::optional<Interval> window,
                                const std::function<void(const PathSegment&)>& take) {
  CriticalPath path;
  PathPoint point = last_point(graph, window);
  if (point == kNoPoint) return path;
  path.time = {graph.time(point), graph.time(point)};
  while (!window || graph.time(point) > window->start) {
    const Predecessor before = binding(graph, point);
    if (before.from == kNoPoint) break;
    std::int64_t start = graph.time(before.from);
    if (window) start = std::max(start, window->start);
    const PathSegment segment{.start_ns = start,
                              .end_ns = graph.time(point),
                              .kind = before.kind,
                              .bound_by = classes.of(before, point),
                              .owner = before.owner,
                              .from = graph.event(before.from),
                              .to = graph.event(point)};
    path.bound_by[static_cast<std::size_t>(segment.bound_by)] += graph.time(point) - start;
    take(segment);
    path.time.start = start;
    point = before.from;
  }
  std::int64_t from = path.time.start;
  if (window)
    from = window->start;
  else
    for (const std::int64_t time : graph.times()) from = std::min(from, time);
  path.unattributed_ns = path.time.start - from;
  return path;
}

CriticalPath critical_path(const PathGraph& graph, const BoundByClasses& classes,
                           std::optional<Interval> window) {
  std::vector<PathSegment> segments;
  CriticalPath path = walk_critical_path(
      graph, classes, window, [&](const PathSegment& segment) { segments.push_back(segment); });
  std::ranges::reverse(segments);
  path.segments = std::move(segments);
  return path;
}

}  // namespace tracelens
