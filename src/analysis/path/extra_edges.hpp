// extra_edges.hpp: the edges of a graph that do not simply lead from one point to the next in its lane,
// by the point they lead to.
//   edges.start(points);  edges.add(to, edge);  ...  edges.finish();   // `to` ascending
//   for (const ExtraEdges::Edge& edge : edges.of(point)) ...
// Few points of a thread have any: which, says a numbered set instead of a column of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/path/path_point.hpp"
#include "analysis/path/segment.hpp"
#include "tree/numbered_set.hpp"

namespace tracelens {

class ExtraEdges {
 public:
  struct Edge {
    PathPoint from = kNoPoint;
    EdgeKind kind{};
  };

  void start(std::size_t points, std::size_t most_edges) {
    with_edges_ = NumberedSet{points + 1};  // one behind the last may be asked about
    begins_.clear();
    edges_.clear();
    edges_.reserve(most_edges);
  }
  void add(PathPoint to, Edge edge) {
    if (!with_edges_.contains(to)) {
      with_edges_.add(to);
      begins_.push_back(static_cast<std::uint32_t>(edges_.size()));
    }
    edges_.push_back(edge);
  }
  void finish() {
    begins_.push_back(static_cast<std::uint32_t>(edges_.size()));
    with_edges_.number();
  }

  [[nodiscard]] std::span<const Edge> of(PathPoint to) const {
    if (!with_edges_.contains(to)) return {};
    const std::uint32_t place = with_edges_.number_of(to);
    return std::span{edges_}.subspan(begins_[place], begins_[place + 1] - begins_[place]);
  }
  // Calls use(point, edge) for each, by point.
  template <class Use>
  void for_each(Use&& use) const {
    std::size_t place = 0;
    with_edges_.for_each([&](PathPoint to) {
      for (std::uint32_t edge = begins_[place]; edge < begins_[place + 1]; ++edge)
        use(to, edges_[edge]);
      ++place;
    });
  }
  // Numbers them throughout; also of points that have none, and of one behind the last.
  [[nodiscard]] std::uint32_t begin_of(PathPoint to) const {
    return begins_[with_edges_.number_of(to)];
  }
  [[nodiscard]] std::span<const Edge> all() const { return edges_; }

 private:
  NumberedSet with_edges_;             // points
  std::vector<std::uint32_t> begins_;  // by point that has edges, and one more
  std::vector<Edge> edges_;
};

}  // namespace tracelens
