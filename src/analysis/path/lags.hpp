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

struct PathLags {
  // By point: from the one before in the lane; without predecessors, from the beginning of time.
  std::vector<std::int64_t> lane;
  std::vector<std::int64_t> extra;  // by number of the extra edge
};

// What was waited for keeps its whole lag, as do host events and GPU events. What was there in time
// keeps the usual latency of its kind: the median of those that were waited for.
[[nodiscard]] PathLags recorded_lags(const PathGraph& graph);

// Writes the times of the points in `order`, which stand in the order of the graph; all others keep
// what `times` says. Points without predecessors follow what `times` says of them.
void simulate(const PathGraph& graph, const PathLags& lags, std::span<const PathPoint> order,
              std::span<std::int64_t> times);

// Whether the simulation of the recorded lags gives the recorded times.
[[nodiscard]] bool replays(const PathGraph& graph, const PathLags& recorded);

}  // namespace tracelens
