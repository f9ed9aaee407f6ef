#include "analysis/path/extra_edges.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace tracelens {
namespace {

// Against a plain list for each point, over several words and at their borders.
TEST(ExtraEdges, AreThoseThatWereAdded) {
  std::mt19937 random{7};
  for (const PathPoint points : {1U, 63U, 64U, 65U, 128U, 1000U}) {
    std::vector<std::vector<PathPoint>> expected(points);
    ExtraEdges edges;
    edges.start(points, points);
    for (PathPoint to = 0; to < points; ++to)
      for (auto count = static_cast<int>(random() % 4) - 1; count > 0; --count) {
        expected[to].push_back(static_cast<PathPoint>(random() % points));
        edges.add(to, {expected[to].back(), EdgeKind::kLaunch});
      }
    edges.finish();
    std::uint32_t number = 0;
    std::vector<std::pair<PathPoint, PathPoint>> in_order;
    for (PathPoint to = 0; to < points; ++to) {
      EXPECT_EQ(edges.begin_of(to), number);
      ASSERT_EQ(edges.of(to).size(), expected[to].size());
      for (std::size_t i = 0; i < expected[to].size(); ++i) {
        EXPECT_EQ(edges.of(to)[i].from, expected[to][i]);
        in_order.emplace_back(to, expected[to][i]);
      }
      number += static_cast<std::uint32_t>(expected[to].size());
    }
    EXPECT_EQ(edges.begin_of(points), number);
    EXPECT_EQ(edges.all().size(), number);
    std::vector<std::pair<PathPoint, PathPoint>> visited;
    edges.for_each(
        [&](PathPoint to, const ExtraEdges::Edge& edge) { visited.emplace_back(to, edge.from); });
    EXPECT_EQ(visited, in_order);
  }
}

}  // namespace
}  // namespace tracelens
