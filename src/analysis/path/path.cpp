#include "analysis/path/path.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tracelens {
namespace {

PathPoint last_in(const PathGraph& graph, const Interval& window) {
  PathPoint last = kNoPoint;
  const auto is_in = [&](PathPoint point) {
    if (!graph.is_host(point)) {
      point = graph.call_of(graph.gpu_of(point));
      if (point == kNoPoint) return false;
    }
    return graph.time(point) >= window.start && graph.time(point) <= window.end;
  };
  for (PathPoint point = 0; point < graph.size(); ++point)
    if (is_in(point) && (last == kNoPoint || graph.time(point) >= graph.time(last))) last = point;
  return last;
}

// The points of a thread are in order of time: of all of them the first and the last will do.
template <class Use>
void for_each_outermost(const PathGraph& graph, Use&& use) {
  for (const PathGraph::HostLane& lane : graph.host_lanes()) {
    use(lane.first);
    use(lane.end - 1);
  }
  for (std::size_t gpu = 0; gpu < graph.gpu_count(); ++gpu) {
    use(graph.gpu_start(gpu));
    use(graph.gpu_end(gpu));
  }
}

}  // namespace

PathPoint last_point(const PathGraph& graph, std::optional<Interval> window) {
  if (window) return last_in(graph, *window);
  PathPoint last = kNoPoint;
  for_each_outermost(graph, [&](PathPoint point) {
    if (last == kNoPoint || graph.time(point) >= graph.time(last)) last = point;
  });
  return last;
}

std::int64_t first_time(const PathGraph& graph) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for_each_outermost(graph, [&](PathPoint point) { first = std::min(first, graph.time(point)); });
  return first;
}

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
  if (!loading_.empty() &&
      in_ranges(loading_, trace.tracks()[graph_.event(to).row], graph_.time(from.from)))
    return BoundBy::kDataLoading;
  if (!from.owner.valid()) return BoundBy::kHostOther;
  return is_runtime(trace.category(from.owner)) ? BoundBy::kHostRuntime : BoundBy::kHostOp;
}

CriticalPath path_between(const PathGraph& graph, PathPoint first, PathPoint last,
                          const std::optional<Interval>& window) {
  CriticalPath path;
  path.time = {std::max(graph.time(first), walk_end(window)), graph.time(last)};
  path.unattributed_ns = path.time.start - (window ? window->start : first_time(graph));
  return path;
}

CriticalPath critical_path(const PathGraph& graph, const BoundByClasses& classes,
                           std::optional<Interval> window) {
  const PathPoint last = last_point(graph, window);
  if (last == kNoPoint) return {};
  std::vector<PathSegment> segments;
  BoundByTimes bound_by{};
  const std::int64_t until = walk_end(window);
  const PathPoint first =
      walk_back(graph, last, until, [&](const Predecessor& before, PathPoint point) {
        const PathSegment segment = segment_of(graph, classes, before, point, until);
        bound_by[static_cast<std::size_t>(segment.bound_by)] += segment.end_ns - segment.start_ns;
        segments.push_back(segment);
      });
  std::ranges::reverse(segments);
  CriticalPath path = path_between(graph, first, last, window);
  path.segments = std::move(segments);
  path.bound_by = bound_by;
  return path;
}

}  // namespace tracelens
