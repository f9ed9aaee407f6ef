// id_slots.hpp: ids of a trace (correlations, sequence numbers) as dense slot numbers.
//   IdSlots slots{ids};                         // ids: a span; kAbsent entries are passed over
//   slots.find(ids[3]);                         // 0 .. slots.size() - 1, in order of appearance
// Profilers hand out ids by counting, so a plain array over their range usually does; ids with wide gaps, or
// scattered over 64 bits, go to a hash table with the same answers.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

class IdSlots {
 public:
  static constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

  explicit IdSlots(std::span<const std::int64_t> ids) {
    std::size_t count = 0;
    std::int64_t max = std::numeric_limits<std::int64_t>::min();
    min_ = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t id : ids) {
      if (id == kAbsent) continue;
      ++count;
      if (id < min_) min_ = id;
      if (id > max) max = id;
    }
    if (count == 0) return;
    const std::uint64_t range = distance(max);
    const std::size_t hashed = std::bit_ceil(2 * count);
    // An array is several times as fast: it may take twice the room.
    if (range / 2 < hashed * (sizeof(Entry) / sizeof(std::uint32_t)) + 1024)
      dense_.assign(static_cast<std::size_t>(range) + 1, kNoSlot);
    else
      hashed_.assign(hashed, Entry{});
    for (const std::int64_t id : ids)
      if (id != kAbsent) add(id);
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] std::uint32_t find(std::int64_t id) const {
    if (!dense_.empty()) {
      const std::uint64_t at = distance(id);  // an id below the minimum wraps to a huge distance
      return at < dense_.size() ? dense_[static_cast<std::size_t>(at)] : kNoSlot;
    }
    if (hashed_.empty()) return kNoSlot;
    return hashed_[probe(id)].slot;
  }

 private:
  struct Entry {
    std::int64_t id = 0;
    std::uint32_t slot = kNoSlot;
  };
  // A sixteenth of the numbers or less are ids, or there were no hash table: few have the same neighbours.
  static constexpr std::uint64_t kNeighbours = 64, kEntriesPerLine = 4;

  [[nodiscard]] std::uint64_t distance(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(min_);
  }
  [[nodiscard]] std::size_t probe(std::int64_t id) const {  // where the id is, or where it belongs
    const std::size_t mask = hashed_.size() - 1;
    // Neighbours, which are asked for one after the other, lie side by side: one wait for memory serves
    // several of them.
    std::uint64_t hash = (static_cast<std::uint64_t>(id) / kNeighbours) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32;
    std::size_t at = static_cast<std::size_t>(hash * kEntriesPerLine) & mask;
    while (hashed_[at].slot != kNoSlot && hashed_[at].id != id) at = (at + 1) & mask;
    return at;
  }
  void add(std::int64_t id) {
    if (!dense_.empty()) {
      std::uint32_t& slot = dense_[static_cast<std::size_t>(distance(id))];
      if (slot == kNoSlot) slot = size_++;
      return;
    }
    Entry& entry = hashed_[probe(id)];
    if (entry.slot == kNoSlot) entry = {id, size_++};
  }

  std::int64_t min_ = 0;
  std::uint32_t size_ = 0;
  std::vector<std::uint32_t> dense_;  // by id - min_; used when not empty
  std::vector<Entry> hashed_;         // otherwise
};

}  // namespace tracelens
