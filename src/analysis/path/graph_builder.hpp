// graph_builder.hpp: makes a PathGraph: its points lane by lane (graph_points.cpp), then what they wait
// for (graph_edges.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/path/graph.hpp"
#include "io/threads.hpp"

namespace tracelens {

class PathGraphBuilder {
 public:
  PathGraphBuilder(PathGraph& graph, const TraceFacts& facts)
      : g_{graph},
        facts_{facts},
        trace_{facts.trace()},
        threads_{io::spare_threads(facts.threads())} {}

  void build() {
    collect();
    add_points();
    add_launches();
    add_host_edges();
    add_stream_edges();
    g_.extra_.finish();
    if (runs_in_circle()) drop_edges_without_time();
  }

 private:
  struct Found {
    PathPoint to;
    PathGraph::Edge edge;
  };
  struct HostEdges {
    std::vector<Found> found;  // in order of discovery
    std::uint64_t dropped = 0;
  };
  struct Launch {
    EventId gpu, call;
  };

  // --- points ---
  void collect();
  void list_other_rows();
  [[nodiscard]] std::vector<std::uint32_t> rows_of(TrackId track,
                                                   std::span<const std::uint32_t> by_time) const;
  [[nodiscard]] bool is_open_before(std::uint32_t a, std::uint32_t b) const;
  void sort_by_opening(std::span<std::uint32_t> rows) const;
  void list_gpu_lanes();
  void add_points();
  void add_host_lane(const PathGraph::HostLane& lane);
  void add_gpu_lanes();
  void clip_overlaps();

  // --- edges ---
  void add_launches();
  void add_host_edges();
  [[nodiscard]] bool is_possible(PathPoint from, PathPoint to, std::uint64_t& dropped) const;
  void add_host_edge(HostEdges& edges, PathPoint from, PathPoint to, EdgeKind kind) const;
  [[nodiscard]] HostEdges find_handoffs() const;
  [[nodiscard]] std::vector<PathPoint> ends_of_all(const PathGraph::HostLane& lane) const;
  [[nodiscard]] PathPoint last_not_after(const PathGraph::HostLane& lane, std::int64_t time) const;
  void hand_over(HostEdges& edges, const PathGraph::HostLane& lane,
                 std::span<const PathPoint> ends) const;
  void sort_gpu_ends();
  [[nodiscard]] HostEdges find_syncs() const;
  void add_stream_edges();
  [[nodiscard]] PathPoint guessed_wait(std::size_t gpu, std::optional<std::int64_t> before) const;
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
  const int threads_;
  std::vector<std::uint32_t> other_rows_;  // host events that are points and in no tree, by track
  std::vector<std::vector<std::uint32_t>> host_rows_;  // by track, in order of opening
  std::vector<std::vector<std::uint32_t>> gpu_rows_;   // by lane, in order of time
  std::vector<Launch> found_launches_;
  std::vector<PathPoint> gpu_ends_;  // by time
};

}  // namespace tracelens
