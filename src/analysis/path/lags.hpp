// lags.hpp: how long each point of a graph follows its predecessors, and when everything happens
// when some of that changes.
//   PathLags lags = recorded_lags(graph);
//   lags.lane[graph.gpu_end(kernel)] /= 2;
//   simulate(graph, lags, graph.order(), times);
// With unchanged lags the simulation gives back the times of the trace, to the nanosecond.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analysis/path/graph.hpp"

namespace tracelens {

// The lag of an edge that is not there.
inline constexpr std::int64_t kNoEdge = std::numeric_limits<std::int64_t>::min() / 4;

[[nodiscard]] inline std::int64_t scaled(std::int64_t ns, double factor) {
  return static_cast<std::int64_t>(static_cast<double>(ns) * factor);
}

struct PathLags {
  // By point: from the one before in the lane; without predecessors, from the beginning of time.
  std::vector<std::int64_t> lane;
  std::vector<std::int64_t> extra;  // by number of the extra edge
};

// What was waited for keeps its whole lag, as do host events and GPU events. What was there in time
// keeps the usual latency of its kind: the median of those that were waited for.
[[nodiscard]] PathLags recorded_lags(const PathGraph& graph);

// The host time that ends at a point of a thread: from the point before on, or where the thread had
// waited for another one, from that one's end on.
struct HostStretch {
  std::int64_t start_ns = 0;
  std::uint32_t handoff = 0;  // number of the edge
  bool has_handoff = false;

  [[nodiscard]] std::int64_t& lag(PathLags& lags, PathPoint point) const {
    return has_handoff ? lags.extra[handoff] : lags.lane[point];
  }
  [[nodiscard]] std::int64_t lag(const PathLags& lags, PathPoint point) const {
    return has_handoff ? lags.extra[handoff] : lags.lane[point];
  }
};
// Of a point in a lane; `begin_ns`: when the first point's stretch begins.
[[nodiscard]] inline HostStretch host_stretch(const PathGraph& graph, const PathLags& lags,
                                              PathPoint point, std::int64_t begin_ns) {
  if (!graph.follows(point)) return {.start_ns = begin_ns};
  std::uint32_t number = graph.extra_begin(point);
  for (const PathGraph::Edge& edge : graph.extra(point)) {
    if (edge.kind == EdgeKind::kHandoff && lags.extra[number] != kNoEdge)
      return {.start_ns = graph.time(edge.from), .handoff = number, .has_handoff = true};
    ++number;
  }
  return {.start_ns = graph.time(point - 1)};
}

// Writes the times of the points in `order`, which stand in the order of the graph; all others keep
// what `times` says. Points without predecessors follow what `times` says of them.
void simulate(const PathGraph& graph, const PathLags& lags, std::span<const PathPoint> order,
              std::span<std::int64_t> times);

// Whether the simulation of the recorded lags gives the recorded times.
[[nodiscard]] bool replays(const PathGraph& graph, const PathLags& recorded);

}  // namespace tracelens
