// recall.hpp: what the texts of an event will probably be, from the events before it.
//   const Recall::Seen& expected = recall.after(trail);   // an event of some kind begins
//   recall.remember(trail, seen);                         // and turned out to be this one
// Programs do the same things in the same order, step for step and layer for layer: after an event
// mostly comes the one that came after it the last time, among those of its kind. Two events back is
// far enough: then nine of ten ops and kernels of a training step are foreseen. To compare a text
// with the one that is expected is much cheaper than to find its end, its hash and its id. A wrong
// guess costs a comparison and nothing more: whatever is recalled must be compared.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace tracelens::kineto {

class Recall {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Seen {
    std::uint32_t name = kNone, signature = kNone, call_stack = kNone, details = kNone;
    std::uint32_t track = kNone;
  };

  // The last events of one kind; as it is made: none yet.
  struct Trail {
    std::uint32_t place = 0;  // in seen_
    std::uint32_t last = 0;   // hash of the last event
  };

  // What came the last time after the two events that were last.
  [[nodiscard]] const Seen& after(const Trail& trail) const { return seen_[trail.place]; }
  void remember(Trail& trail, const Seen& seen) {
    seen_[trail.place] = seen;
    const std::uint64_t hash = hash_of(seen);
    trail.place = static_cast<std::uint32_t>((hash ^ trail.last) * 0xD6E8FEB86659FD93U >> kShift);
    trail.last = static_cast<std::uint32_t>(hash >> 32);
  }

 private:
  static constexpr int kBits = 12, kShift = 64 - kBits;
  static std::uint64_t hash_of(const Seen& seen) {
    const std::uint64_t first = std::uint64_t{seen.name} << 32 | seen.signature;
    const std::uint64_t second = std::uint64_t{seen.call_stack} << 32 | seen.details;
    return ((first ^ std::uint64_t{seen.track} << 17) * 0x9E3779B97F4A7C15U ^ second) *
           0xC2B2AE3D27D4EB4FU;
  }

  std::vector<Seen> seen_ = std::vector<Seen>(std::size_t{1} << kBits);
};

}  // namespace tracelens::kineto
