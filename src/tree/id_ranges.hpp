// id_ranges.hpp: ids of a trace in ranges, so that several threads find out things about ids, each about its own.
//   const IdsOfPieces pieces{threads, calls.size(), [&](std::size_t i, IdsOfPiece& piece) { piece.add(id_of(i)); }};
//   const std::vector<IdRange> shares = divide_ids(pieces.all(), threads);
//   pieces.for_each(shares[2], [&](std::size_t i) { if (shares[2].contains(id_of(i))) ... });
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tracelens/trace.hpp>
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

// The ids of some items. Those without one, kAbsent, say nothing of the others.
class IdsOfPiece {
 public:
  void add(std::int64_t id) {
    if (id == kAbsent)
      has_absent_ = true;
    else
      ids_.add(id);
  }
  void add_all() { ids_ = kAllIds; }
  [[nodiscard]] IdRange ids() const { return ids_; }
  [[nodiscard]] bool may_be_in(IdRange wanted) const {
    return ids_.overlaps(wanted) || (has_absent_ && wanted.contains(kAbsent));
  }

 private:
  IdRange ids_;
  bool has_absent_ = false;
};

// Which ids each piece of a list has. Profilers count: few pieces have any of a range, and whoever
// looks for these passes over the others.
class IdsOfPieces {
 public:
  // `add` adds the id of item i to those of its piece. One thread wants them all, and does not ask.
  template <class Add>
  IdsOfPieces(int threads, std::size_t items, const Add& add)
      : ranges_{threads, items}, pieces_(ranges_.parts()) {
    if (threads == 1)
      for (IdsOfPiece& piece : pieces_) piece.add_all();
    else
      io::for_each_part(threads, pieces_.size(), [&](std::size_t piece) {
        for_each_in(piece, [&](std::size_t i) { add(i, pieces_[piece]); });
      });
  }
  [[nodiscard]] std::size_t size() const { return pieces_.size(); }
  [[nodiscard]] IdRange all() const {
    IdRange all;
    for (const IdsOfPiece& piece : pieces_) all.add(piece.ids());
    return all;
  }
  // How many pieces those who have these ranges look at, all together.
  [[nodiscard]] std::size_t looks(std::span<const IdRange> wanted) const {
    std::size_t sum = 0;
    for (const IdRange range : wanted)
      for (const IdsOfPiece& piece : pieces_) sum += piece.may_be_in(range);
    return sum;
  }
  // Calls use(i) for all items with ids of the range, and for others.
  template <class Use>
  void for_each(IdRange wanted, const Use& use) const {
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece)
      if (pieces_[piece].may_be_in(wanted)) for_each_in(piece, use);
  }
  template <class Use>
  void for_each_reversed(IdRange wanted, const Use& use) const {
    for (std::size_t piece = pieces_.size(); piece-- > 0;)
      if (pieces_[piece].may_be_in(wanted))
        for (std::size_t i = ranges_.end(piece); i-- > ranges_.begin(piece);) use(i);
  }

 private:
  template <class Use>
  void for_each_in(std::size_t piece, const Use& use) const {
    for (std::size_t i = ranges_.begin(piece); i < ranges_.end(piece); ++i) use(i);
  }

  io::Ranges ranges_;
  std::vector<IdsOfPiece> pieces_;
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
