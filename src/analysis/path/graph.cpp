#include "analysis/path/graph.hpp"

#include <algorithm>
#include <numeric>

#include "analysis/path/graph_builder.hpp"
#include "analysis/path/point_order.hpp"
#include "tree/time_order.hpp"

namespace tracelens {

std::optional<std::vector<PathPoint>> sorted_points(const PathGraph& graph) {
  std::vector<PathPoint> by_time(graph.size());
  std::iota(by_time.begin(), by_time.end(), PathPoint{0});
  std::vector<std::uint32_t> scratch;
  sort_by_time(by_time, graph.times(), scratch);  // each lane is in order already
  PointOrder order{graph, [](PathPoint, PathPoint) { return true; }};
  order.reserve();
  if (!std::ranges::all_of(by_time, [&](PathPoint p) { return order.add(p); })) return std::nullopt;
  return std::move(order).take();
}

PathGraph::PathGraph(const TraceFacts& facts) : trace_{facts.trace()} {
  PathGraphBuilder{*this, facts}.build();
}

std::span<const PathPoint> PathGraph::order() const {
  return order_.get([this] { return sorted_points(*this).value_or(std::vector<PathPoint>{}); });
}

const PathGraph::HostLane* PathGraph::lane_of(TrackId track) const {
  const auto found = std::ranges::lower_bound(host_lanes_, track, {}, &HostLane::track);
  return found != host_lanes_.end() && found->track == track ? &*found : nullptr;
}

PathPoint PathGraph::end_of(PathPoint start) const {
  if (!is_host(start)) return start + 1;
  const std::vector<PathPoint>& ends = host_ends_.get([this] {
    std::vector<PathPoint> found(gpu_begin_, kNoPoint);
    for (PathPoint p = 0; p < gpu_begin_; ++p)
      if (!is_start(p)) found[starts_[event(p).row]] = p;
    return found;
  });
  return ends[start];
}

}  // namespace tracelens
