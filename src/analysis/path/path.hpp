// path.hpp: the critical path of a graph as recorded: from its last point back, each time to what
// was waited for longest.
//   const CriticalPath path = critical_path(graph, classes, std::nullopt);
//   for (const PathSegment& segment : path.segments) ...
#pragma once

#include <functional>
#include <optional>
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
[[nodiscard]] Predecessor binding(const PathGraph& graph, PathPoint point);

// What a segment of a path is charged to.
class BoundByClasses {
 public:
  BoundByClasses(const PathGraph& graph, const GpuWorkKinds& work, const HostRanges& ranges)
      : graph_{graph}, work_{work}, ranges_{ranges} {}
  // Of the way from `from` to `to`.
  [[nodiscard]] BoundBy of(const Predecessor& from, PathPoint to) const;

 private:
  const PathGraph& graph_;
  const GpuWorkKinds& work_;
  const HostRanges& ranges_;
};

// Without a window: of the whole trace. In a window: up to the last of its host points and of the
// GPU events launched in it.
[[nodiscard]] CriticalPath critical_path(const PathGraph& graph, const BoundByClasses& classes,
                                         std::optional<Interval> window);

// The same without keeping the segments, which may be as many as there are points: hands them over
// from the last to the first. The result has none.
CriticalPath walk_critical_path(const PathGraph& graph, const BoundByClasses& classes,
                                std::optional<Interval> window,
                                const std::function<void(const PathSegment&)>& take);

}  // namespace tracelens
