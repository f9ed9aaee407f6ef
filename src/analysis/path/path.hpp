// path.hpp: the critical path of a graph as recorded: from its last point back, each time to what
// was waited for longest.
//   const CriticalPath path = critical_path(graph, classes, std::nullopt);
//   for (const PathSegment& segment : path.segments) ...
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tracelens/intervals.hpp>
#include <vector>

#include "analysis/path/graph.hpp"
#include "analysis/path/segment.hpp"
#include "facts/calls.hpp"
#include "facts/gpu_work.hpp"
#include "facts/host_ranges.hpp"

namespace tracelens {

// A predecessor of a point.
struct Predecessor {
  PathPoint from = kNoPoint;  // none
  EdgeKind kind{};
  EventId owner;
};
// Of predecessors of the same time, the one that explains more has the higher rank.
[[nodiscard]] int rank_of(EdgeKind kind);
// The one with the latest time.
[[nodiscard]] inline Predecessor binding(const PathGraph& graph, PathPoint point) {
  Predecessor best;
  if (graph.follows(point)) best = {point - 1, graph.lane_kind(point), graph.lane_owner(point)};
  for (const PathGraph::Edge& edge : graph.extra(point))
    if (best.from == kNoPoint || graph.time(edge.from) > graph.time(best.from) ||
        (graph.time(edge.from) == graph.time(best.from) && rank_of(edge.kind) > rank_of(best.kind)))
      best = {edge.from, edge.kind,
              edge.kind == EdgeKind::kHandoff ? EventId{} : graph.event(point)};
  return best;
}

// What a segment of a path is charged to.
class BoundByClasses {
 public:
  BoundByClasses(const PathGraph& graph, const GpuWorkKinds& work, const HostRanges& ranges)
      : graph_{graph}, work_{work}, loading_{ranges.data_loading()} {}
  // Of the way from `from` to `to`.
  [[nodiscard]] BoundBy of(const Predecessor& from, PathPoint to) const;

 private:
  const PathGraph& graph_;
  const GpuWorkKinds& work_;
  std::span<const HostRange> loading_;
};

// Without a window: of the whole trace. In a window: up to the last of its host points and of the
// GPU events launched in it.
[[nodiscard]] CriticalPath critical_path(const PathGraph& graph, const BoundByClasses& classes,
                                         std::optional<Interval> window);

// The point of a window, or of the whole graph, to walk back from; kNoPoint: there is none. Of several
// the last.
[[nodiscard]] PathPoint last_point(const PathGraph& graph, std::optional<Interval> window);
// Of all points; the graph must have some.
[[nodiscard]] std::int64_t first_time(const PathGraph& graph);

// Where walks back end: the start of the window, or never.
[[nodiscard]] inline std::int64_t walk_end(const std::optional<Interval>& window) {
  return window ? window->start : std::numeric_limits<std::int64_t>::min();
}
// The path from `first` to `last` without segments and their sums.
[[nodiscard]] CriticalPath path_between(const PathGraph& graph, PathPoint first, PathPoint last,
                                        const std::optional<Interval>& window);

// From a point back to the first one that is not after a time, or that waited for nothing: returns that.
// Calls use(predecessor, point) for each step.
template <class Use>
PathPoint walk_back(const PathGraph& graph, PathPoint point, std::int64_t until_ns,
                    const Use& use) {
  while (graph.time(point) > until_ns) {
    const Predecessor before = binding(graph, point);
    if (before.from == kNoPoint) break;
    use(before, point);
    point = before.from;
  }
  return point;
}

// Of such a step what is after a time.
[[nodiscard]] inline PathSegment segment_of(const PathGraph& graph, const BoundByClasses& classes,
                                            const Predecessor& before, PathPoint point,
                                            std::int64_t after_ns) {
  return {.start_ns = std::max(graph.time(before.from), after_ns),
          .end_ns = graph.time(point),
          .kind = before.kind,
          .bound_by = classes.of(before, point),
          .owner = before.owner,
          .from = graph.event(before.from),
          .to = graph.event(point)};
}

}  // namespace tracelens
