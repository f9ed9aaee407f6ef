// graph_builder.hpp: makes a PathGraph: its points lane by lane (graph_points.cpp), then what they wait
// for (graph_edges.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/path/graph.hpp"

namespace tracelens {

class PathGraphBuilder {
 public:
  PathGraphBuilder(PathGraph& graph, const TraceFacts& facts)
      : g_{graph}, facts_{facts}, trace_{facts.trace()} {}

  void build() {
    add_host_lanes();
    add_gpu_lanes();
    add_launches();
    sort_gpu_ends();
    add_handoffs();
    add_syncs();
    take_host_edges();
    add_stream_edges();
    g_.extra_.finish();
    if (runs_in_circle()) drop_edges_without_time();
  }

 private:
  struct Found {
    PathPoint to;
    PathGraph::Edge edge;
  };

  // --- points ---
  void add_host_lanes();
  void list_other_rows();
  void take_rows(TrackId track, std::span<const std::uint32_t> by_time,
                 std::vector<std::uint32_t>& rows) const;
  [[nodiscard]] bool is_open_before(std::uint32_t a, std::uint32_t b) const;
  void sort_by_opening(std::span<std::uint32_t> rows) const;
  void add_host_lane(TrackId track, std::span<const std::uint32_t> rows);
  void add_gpu_lanes();
  void add_gpu_lane(std::uint32_t lane, std::span<const std::uint32_t> rows);
  void clip_overlaps();

  // --- edges ---
  [[nodiscard]] bool is_possible(PathPoint from, PathPoint to);
  void add_host_edge(PathPoint from, PathPoint to, EdgeKind kind);
  void take_host_edges();
  void add_launches();
  void sort_gpu_ends();
  void add_handoffs();
  [[nodiscard]] std::vector<PathPoint> ends_of_all(const PathGraph::HostLane& lane) const;
  [[nodiscard]] PathPoint last_not_after(const PathGraph::HostLane& lane, std::int64_t time) const;
  void hand_over(const PathGraph::HostLane& lane, std::span<const PathPoint> ends);
  void add_stream_edges();
  [[nodiscard]] PathPoint guessed_wait(std::size_t gpu, std::optional<std::int64_t> before) const;
  void add_syncs();
  [[nodiscard]] bool waits_for_copy(EventId call, EventId copy) const;
  [[nodiscard]] PathPoint last_work_in(PathPoint start, PathPoint end) const;
  [[nodiscard]] bool runs_in_circle() const;
  void drop_edges_without_time();

  [[nodiscard]] auto time_of() const {
    return [this](PathPoint point) { return g_.times_[point]; };
  }

  PathGraph& g_;
  const TraceFacts& facts_;
  const Trace& trace_;
  std::vector<std::uint32_t> other_rows_;  // host events that are points and in no tree, by track
  std::vector<PathPoint> gpu_ends_;        // by time
  std::vector<Found> host_edges_;          // in order of discovery
};

}  // namespace tracelens
