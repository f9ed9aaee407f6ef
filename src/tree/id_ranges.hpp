// id_ranges.hpp: ids of a trace in ranges, so that several threads find out things about ids, each about its own.
//   const IdsOfPieces pieces{threads, calls.size(), [&](std::size_t i, IdRange& ids) { ids.add(id_of(i)); }};
//   const std::vector<IdRange> shares = divide_ids(pieces.all(), threads);
//   pieces.for_each(shares[2], [&](std::size_t i) { if (shares[2].contains(id_of(i))) ... });
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "io/parallel.hpp"

namespace tracelens {

// Ids from the first to the last.
struct IdRange {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(),
               last = std::numeric_limits<std::int64_t>::min();
  [[nodiscard]] bool empty() const { return first > last; }
  [[nodiscard]] bool contains(std::int64_t id) const { return first <= id && id <= last; }
  [[nodiscard]] bool overlaps(IdRange other) const {
    return first <= other.last && other.first <= last;
  }
  void add(std::int64_t id) { add({id, id}); }
  void add(IdRange other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};
inline constexpr IdRange kAllIds{std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()};

// Which ids each piece of a list has. Profilers count: few pieces have any of a range, and whoever
// looks for these passes over the others.
class IdsOfPieces {
 public:
  // `add` adds the id of item i to those of its piece. One thread wants them all, and does not ask.
  template <class Add>
  IdsOfPieces(int threads, std::size_t items, const Add& add)
      : pieces_{threads, items}, ids_(pieces_.parts(), threads > 1 ? IdRange{} : kAllIds) {
    if (threads > 1)
      io::for_each_part(threads, ids_.size(), [&](std::size_t piece) {
        for (std::size_t i = pieces_.begin(piece); i < pieces_.end(piece); ++i) add(i, ids_[piece]);
      });
  }
  [[nodiscard]] IdRange all() const {
    IdRange all;
    for (const IdRange ids : ids_) all.add(ids);
    return all;
  }
  // How many pieces those who have these ranges look at, all together.
  [[nodiscard]] std::size_t looks(std::span<const IdRange> ranges) const {
    std::size_t sum = 0;
    for (const IdRange range : ranges)
      sum += static_cast<std::size_t>(std::ranges::count_if(
          ids_, [range](const IdRange& piece) { return piece.overlaps(range); }));
    return sum;
  }
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  // Calls use(i) for all items with ids of the range, and for others.
  template <class Use>
  void for_each(IdRange wanted, const Use& use) const {
    for (std::size_t piece = 0; piece < ids_.size(); ++piece)
      if (ids_[piece].overlaps(wanted))
        for (std::size_t i = pieces_.begin(piece); i < pieces_.end(piece); ++i) use(i);
  }
  template <class Use>
  void for_each_reversed(IdRange wanted, const Use& use) const {
    for (std::size_t piece = ids_.size(); piece-- > 0;)
      if (ids_[piece].overlaps(wanted))
        for (std::size_t i = pieces_.end(piece); i-- > pieces_.begin(piece);) use(i);
  }

 private:
  io::Ranges pieces_;
  std::vector<IdRange> ids_;  // by piece
};

// Every id is in one of the ranges, which are no more than `most`; those of `ids` in about equal parts.
[[nodiscard]] inline std::vector<IdRange> divide_ids(IdRange ids, int most) {
  std::vector<IdRange> ranges{kAllIds};
  if (most <= 1 || ids.empty()) return ranges;
  const auto first = static_cast<std::uint64_t>(ids.first);
  const std::uint64_t width =
      (static_cast<std::uint64_t>(ids.last) - first) / static_cast<std::uint64_t>(most) + 1;
  for (std::uint64_t i = 1; i < static_cast<std::uint64_t>(most); ++i) {
    if (width > (static_cast<std::uint64_t>(ids.last) - first) / i) break;
    const auto begin = static_cast<std::int64_t>(first + i * width);
    ranges.back().last = begin - 1;
    ranges.push_back({begin, kAllIds.last});
  }
  return ranges;
}

}  // namespace tracelens
