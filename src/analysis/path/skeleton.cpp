#include "analysis/path/skeleton.hpp"

#include <algorithm>

namespace tracelens {

PathSkeleton::PathSkeleton(const PathGraph& graph, const ActivePoints& active)
    : from_(graph.extra_count(), kNone), is_sync_(graph.extra_count()) {
  const auto size = static_cast<PathPoint>(graph.size());
  std::vector<bool> is_joint(size);
  for (const PathPoint point : active.order)
    for (const PathGraph::Edge& edge : graph.extra(point)) {
      is_joint[point] = true;
      is_joint[edge.from] = true;
    }
  std::vector<std::uint32_t> joint_of(size, kNone);
  PathPoint first = 0;
  bool continues = false;
  for (PathPoint point = 0; point < size; ++point) {
    if (!active.is_active[point]) continue;
    const bool is_head = !graph.follows(point);
    if (is_head || !active.is_active[point - 1]) {
      first = point;
      continues = false;
    }
    const bool is_last =
        point + 1 == size || !graph.follows(point + 1) || !active.is_active[point + 1];
    if (!is_joint[point] && !is_head && !is_last) continue;
    joint_of[point] = static_cast<std::uint32_t>(joints_.size());
    joints_.push_back({.first = first,
                       .point = point,
                       .extra = graph.extra_begin(point),
                       .extra_end = graph.extra_begin(point + 1),
                       .continues = continues,
                       .is_head = is_head});
    if (graph.is_host(point)) host_joints_ = static_cast<std::uint32_t>(joints_.size());
    first = point + 1;
    continues = true;
  }
  order_.reserve(joints_.size());
  for (const PathPoint point : active.order) {
    if (joint_of[point] == kNone) continue;
    order_.push_back(joint_of[point]);
    std::uint32_t number = graph.extra_begin(point);
    for (const PathGraph::Edge& edge : graph.extra(point)) {
      from_[number] = joint_of[edge.from];
      is_sync_[number++] = graph.is_host(point) && edge.kind == EdgeKind::kSync;
    }
  }
}

PathSkeleton::Lengths PathSkeleton::simulate(const PathLags& lags) const {
  struct Times {
    std::int64_t all = 0;
    std::int64_t unhindered = 0;  // of the host, which then depends on the host alone
  };
  std::vector<Times> times(joints_.size());
  Lengths last;
  for (const std::uint32_t at : order_) {
    const Joint& joint = joints_[at];
    const bool is_host = at < host_joints_;
    std::int64_t lane = 0;
    for (PathPoint point = joint.first; point <= joint.point; ++point) lane += lags.lane[point];
    Times time{kNoEdge, kNoEdge};
    if (!joint.is_head) {
      const Times before = joint.continues ? times[at - 1] : Times{};
      time = {before.all + lane, before.unhindered + lane};
    }
    for (std::uint32_t edge = joint.extra; edge < joint.extra_end; ++edge) {
      if (from_[edge] == kNone) continue;
      const Times& from = times[from_[edge]];
      time.all = std::max(time.all, from.all + lags.extra[edge]);
      if (is_host && !is_sync_[edge])
        time.unhindered = std::max(time.unhindered, from.unhindered + lags.extra[edge]);
    }
    times[at] = {time.all > kNoEdge / 2 ? time.all : lane,
                 time.unhindered > kNoEdge / 2 ? time.unhindered : lane};
    last.all_ns = std::max(last.all_ns, times[at].all);
    if (is_host) last.host_ns = std::max(last.host_ns, times[at].unhindered);
  }
  return last;
}

}  // namespace tracelens
