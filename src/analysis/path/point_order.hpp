// point_order.hpp: points of a graph in an order in which each comes after its predecessors.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analysis/path/graph.hpp"

namespace tracelens {

template <class Counts>
class PointOrder {
 public:
  // `counts`: whether an edge is one to look at.
  PointOrder(const PathGraph& graph, Counts counts)
      : graph_{graph}, counts_{std::move(counts)}, states_(graph.size(), kNew) {}

  // Adds a point, and first what it waits for. False: it waits for itself.
  bool add(PathPoint last) {
    if (states_[last] != kNew) return true;
    open_.assign(1, last);
    while (!open_.empty()) {
      const PathPoint p = open_.back();
      states_[p] = kOpen;
      PathPoint waiting = kNoPoint;
      const auto look = [&](PathPoint before) {
        if (states_[before] != kDone && counts_(before, p)) waiting = before;
      };
      if (graph_.follows(p)) look(p - 1);
      for (const PathGraph::Edge& edge : graph_.extra(p)) look(edge.from);
      if (waiting == kNoPoint) {
        states_[p] = kDone;
        order_.push_back(p);
        open_.pop_back();
      } else if (states_[waiting] == kOpen) {
        return false;
      } else {
        open_.push_back(waiting);
      }
    }
    return true;
  }

  void reserve() { order_.reserve(graph_.size()); }
  [[nodiscard]] std::vector<PathPoint> take() && { return std::move(order_); }

 private:
  enum State : char { kNew, kOpen, kDone };

  const PathGraph& graph_;
  Counts counts_;
  std::vector<State> states_;
  std::vector<PathPoint> open_, order_;
};

// By time; of points with the same time each after its predecessors. None: there is no such order.
[[nodiscard]] std::optional<std::vector<PathPoint>> sorted_points(const PathGraph& graph);

}  // namespace tracelens
