// extra_edges.hpp: the edges of a graph that do not simply lead from one point to the next in its lane,
// by the point they lead to.
//   edges.start(points);  edges.add(to, edge);  ...  edges.finish();   // `to` ascending
//   for (const ExtraEdges::Edge& edge : edges.of(point)) ...
// Few points of a thread have any. A bit for each point says so; counting the bits before it gives the
// place in a list of those that have: an eighth of a byte instead of a number for each point.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/path/path_point.hpp"
#include "analysis/path/segment.hpp"

namespace tracelens {

class ExtraEdges {
 public:
  struct Edge {
    PathPoint from = kNoPoint;
    EdgeKind kind{};
  };

  void start(std::size_t points, std::size_t most_edges) {
    words_.assign(points / kBits + 1, {});
    begins_.clear();
    edges_.clear();
    edges_.reserve(most_edges);
  }
  void add(PathPoint to, Edge edge) {
    Word& word = words_[to / kBits];
    const std::uint64_t bit = bit_of(to);
    if ((word.bits & bit) == 0) {
      word.bits |= bit;
      begins_.push_back(static_cast<std::uint32_t>(edges_.size()));
    }
    edges_.push_back(edge);
  }
  void finish() {
    begins_.push_back(static_cast<std::uint32_t>(edges_.size()));
    std::uint32_t before = 0;
    for (Word& word : words_) {
      word.before = before;
      before += static_cast<std::uint32_t>(std::popcount(word.bits));
    }
  }

  [[nodiscard]] std::span<const Edge> of(PathPoint to) const {
    if ((words_[to / kBits].bits & bit_of(to)) == 0) return {};
    const std::uint32_t place = place_of(to);
    return std::span{edges_}.subspan(begins_[place], begins_[place + 1] - begins_[place]);
  }
  // Calls use(point, edge) for each, by point.
  template <class Use>
  void for_each(Use&& use) const {
    std::size_t place = 0;
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t bits = words_[i].bits; bits != 0; bits &= bits - 1, ++place)
        for (std::uint32_t edge = begins_[place]; edge < begins_[place + 1]; ++edge)
          use(static_cast<PathPoint>(i * kBits) + static_cast<PathPoint>(std::countr_zero(bits)),
              edges_[edge]);
  }
  // Numbers them throughout; also of points that have none, and of one behind the last.
  [[nodiscard]] std::uint32_t begin_of(PathPoint to) const { return begins_[place_of(to)]; }
  [[nodiscard]] std::span<const Edge> all() const { return edges_; }

 private:
  static constexpr PathPoint kBits = 64;
  struct Word {
    std::uint64_t bits = 0;
    std::uint32_t before = 0;  // points with edges before those of this word
  };
  [[nodiscard]] static std::uint64_t bit_of(PathPoint point) {
    return std::uint64_t{1} << (point % kBits);
  }
  [[nodiscard]] std::uint32_t place_of(PathPoint to) const {
    const Word& word = words_[to / kBits];
    return word.before + static_cast<std::uint32_t>(std::popcount(word.bits & (bit_of(to) - 1)));
  }

  std::vector<Word> words_;
  std::vector<std::uint32_t> begins_;  // by point that has edges, and one more
  std::vector<Edge> edges_;
};

}  // namespace tracelens
