// graph.hpp: what had to wait for what: the starts and ends of host and GPU events as points, and
// between them why one comes after another.
//   const PathGraph graph{facts};
//   for (const PathPoint p : graph.order()) ...   // every point after all that it waits for
// A lane is a thread or a stream of a GPU; its points stand side by side in order of time. Most
// points follow the one before in their lane; only some have further predecessors. Python frames
// and annotations are no points. Linear in the events, but for sorting.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tracelens/column.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/path/extra_edges.hpp"
#include "analysis/path/path_point.hpp"
#include "analysis/path/segment.hpp"
#include "facts/once.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

class PathGraph {
 public:
  using Edge = ExtraEdges::Edge;
  struct HostLane {
    TrackId track;
    PathPoint first = 0, end = 0;
  };

  explicit PathGraph(const TraceFacts& facts);

  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] std::size_t size() const { return times_.size(); }
  [[nodiscard]] bool is_host(PathPoint point) const { return point < gpu_begin_; }
  [[nodiscard]] std::int64_t time(PathPoint point) const { return times_[point]; }
  [[nodiscard]] std::span<const std::int64_t> times() const { return times_; }
  [[nodiscard]] EventId event(PathPoint point) const { return {events_[point] >> 1}; }
  [[nodiscard]] bool is_start(PathPoint point) const { return (events_[point] & 1) != 0; }

  // --- predecessors ---
  // The point before in the lane: host and gap between points of a thread, gpu from a GPU event's
  // start to its end.
  [[nodiscard]] bool follows(PathPoint point) const {
    return is_host(point) ? !is_first_[point] : !is_start(point);
  }
  [[nodiscard]] EdgeKind lane_kind(PathPoint point) const {
    if (!is_host(point)) return EdgeKind::kGpu;
    return owners_[point].valid() ? EdgeKind::kHost : EdgeKind::kGap;
  }
  // Whose time it is from the point before to this one; invalid: nobody's.
  [[nodiscard]] EventId lane_owner(PathPoint point) const {
    if (is_host(point)) return owners_[point];
    return is_start(point) ? EventId{} : event(point);
  }
  // All others. extra_begin() numbers them throughout.
  [[nodiscard]] std::span<const Edge> extra(PathPoint point) const { return extra_.of(point); }
  [[nodiscard]] std::uint32_t extra_begin(PathPoint point) const { return extra_.begin_of(point); }
  [[nodiscard]] std::size_t extra_count() const { return extra_.all().size(); }

  [[nodiscard]] std::span<const PathPoint> order() const;  // made when first asked for
  [[nodiscard]] std::span<const HostLane> host_lanes() const { return host_lanes_; }  // by track
  [[nodiscard]] const HostLane* lane_of(TrackId track) const;                         // null: none

  // --- GPU events, numbered stream by stream ---
  [[nodiscard]] std::size_t gpu_count() const { return calls_.size(); }
  [[nodiscard]] PathPoint gpu_start(std::size_t gpu) const {
    return gpu_begin_ + 2 * static_cast<PathPoint>(gpu);
  }
  [[nodiscard]] PathPoint gpu_end(std::size_t gpu) const { return gpu_start(gpu) + 1; }
  [[nodiscard]] std::size_t gpu_of(PathPoint point) const { return (point - gpu_begin_) / 2; }
  [[nodiscard]] PathPoint call_of(std::size_t gpu) const { return calls_[gpu]; }  // its start
  [[nodiscard]] std::span<const std::uint32_t> gpu_lanes() const { return gpu_lanes_; }
  [[nodiscard]] std::uint32_t lane_of_gpu(std::size_t gpu) const { return gpu_lanes_[gpu]; }
  [[nodiscard]] std::int64_t device_of(std::size_t gpu) const {
    return lane_devices_[gpu_lanes_[gpu]];
  }

  // The start of an event; kNoPoint: it is none of the graph's.
  [[nodiscard]] PathPoint start_of(EventId event) const {
    return event.row < starts_.size() ? starts_[event.row] : kNoPoint;
  }
  // The end of a GPU event; kNoPoint: it is none of the graph's.
  [[nodiscard]] PathPoint gpu_end_of(EventId event) const {
    const PathPoint start = start_of(event);
    return start == kNoPoint || is_host(start) ? kNoPoint : start + 1;
  }
  // The end that belongs to a start.
  [[nodiscard]] PathPoint end_of(PathPoint start) const;
  [[nodiscard]] bool has_launches() const {
    return std::ranges::find(launches_, true) != launches_.end();
  }
  // Whether a host event has GPU work.
  [[nodiscard]] bool launches(PathPoint start) const { return launches_[start]; }
  // How many host events of a thread have.
  [[nodiscard]] std::size_t launches_of(const HostLane& lane) const {
    std::size_t count = 0;
    for (PathPoint point = lane.first; point < lane.end; ++point)
      count += is_start(point) && launches(point);
    return count;
  }

  // Predecessors left out because they come after what waits for them.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  friend class PathGraphBuilder;

  const Trace& trace_;
  PathPoint gpu_begin_ = 0;
  Column<std::int64_t> times_;
  // The row of the event, and in the lowest bit whether it starts: an event has two points, so that half
  // of the numbers do for rows.
  Column<std::uint32_t> events_;
  Column<EventId> owners_;      // of host points
  std::vector<bool> is_first_;  // of host points, in their lane
  std::vector<bool> launches_;  // by host point that is a start
  ExtraEdges extra_;
  mutable Once<std::vector<PathPoint>> order_;
  mutable Once<std::vector<PathPoint>> host_ends_;  // by host point that is a start
  std::vector<HostLane> host_lanes_;
  std::vector<PathPoint> calls_;            // by GPU event
  std::vector<std::uint32_t> gpu_lanes_;    // by GPU event
  std::vector<std::int64_t> lane_devices_;  // by lane of GPU events
  Column<PathPoint> starts_;                // by event row
  std::uint64_t dropped_ = 0;
};

}  // namespace tracelens
