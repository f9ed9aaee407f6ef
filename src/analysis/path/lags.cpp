#include "analysis/path/lags.hpp"

#include <algorithm>

#include "analysis/path/path.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kFewest = 10;  // a median of fewer says nothing
constexpr std::int64_t kUsualLaunchNs = 8000, kUsualKernelGapNs = 1500;

std::int64_t median(std::vector<std::int64_t>& values, std::int64_t otherwise) {
  if (values.size() < kFewest) return otherwise;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

PathLags recorded_lags(const PathGraph& graph) {
  PathLags lags{std::vector<std::int64_t>(graph.size()),
                std::vector<std::int64_t>(graph.extra_count())};
  std::vector<std::int64_t> launches, kernel_gaps;
  for (std::size_t gpu = 0; gpu < graph.gpu_count(); ++gpu) {
    const PathPoint point = graph.gpu_start(gpu);
    const Predecessor before = binding(graph, point);
    if (before.from == kNoPoint) continue;
    const std::int64_t lag = graph.time(point) - graph.time(before.from);
    if (before.kind == EdgeKind::kLaunch) launches.push_back(lag);
    if (before.kind == EdgeKind::kKernelGap) kernel_gaps.push_back(lag);
  }
  const std::int64_t launch = median(launches, kUsualLaunchNs),
                     kernel_gap = median(kernel_gaps, kUsualKernelGapNs);
  for (PathPoint point = 0; point < graph.size(); ++point) {
    const std::int64_t time = graph.time(point);
    const Predecessor bound = binding(graph, point);
    if (bound.from == kNoPoint) lags.lane[point] = time;
    if (graph.follows(point)) {
      const bool is_bound = bound.from == point - 1 && bound.kind == graph.lane_kind(point);
      const EdgeKind kind = graph.lane_kind(point);
      // In a call that waited for the GPU the host did nothing, and a thread outside of all events
      // that went on with the other's result had waited for it.
      const bool waited = !is_bound && (kind == EdgeKind::kGap || bound.kind == EdgeKind::kSync);
      lags.lane[point] = waited ? 0 : time - graph.time(point - 1);
    }
    const std::uint32_t first = graph.extra_begin(point);
    for (std::uint32_t i = 0; i < graph.extra(point).size(); ++i) {
      const PathGraph::Edge& edge = graph.extra(point)[i];
      const std::int64_t slack = time - graph.time(edge.from);
      std::int64_t& lag = lags.extra[first + i];
      if (bound.from == edge.from && bound.kind == edge.kind)
        lag = slack;
      else if (edge.kind == EdgeKind::kLaunch)
        lag = std::min(slack, launch);
      else if (edge.kind == EdgeKind::kKernelGap)
        lag = std::min(slack, kernel_gap);
    }
  }
  return lags;
}

void simulate(const PathGraph& graph, const PathLags& lags, std::span<const PathPoint> order,
              std::span<std::int64_t> times) {
  for (const PathPoint point : order) {
    std::int64_t time = kNoEdge;
    if (graph.follows(point)) time = times[point - 1] + lags.lane[point];
    const std::int64_t* lag = lags.extra.data() + graph.extra_begin(point);
    for (const PathGraph::Edge& edge : graph.extra(point))
      time = std::max(time, times[edge.from] + *lag++);
    times[point] = time > kNoEdge / 2 ? time : times[point] + lags.lane[point];
  }
}

bool replays(const PathGraph& graph, const PathLags& recorded) {
  std::vector<std::int64_t> times(graph.size());
  simulate(graph, recorded, graph.order(), times);
  return std::ranges::equal(times, graph.times());
}

}  // namespace tracelens
