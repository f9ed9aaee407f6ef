// intervals.hpp: sets of time as sorted, disjoint intervals.
//   const auto busy = merge({{0, 10}, {5, 20}});                 // {{0, 20}}
//   length(subtract(busy, {{8, 9}}))                             // 19
// Intervals are half-open and in nanoseconds. Touching intervals join; an interval of length zero
// that stands alone is kept (it parts a gap in two). Nothing here fails. In src/analysis.
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct Interval {
  std::int64_t start = 0, end = 0;
  bool operator==(const Interval&) const = default;
};

// In any order, overlapping or not -> sorted and disjoint.
[[nodiscard]] std::vector<Interval> merge(std::vector<Interval> intervals);

// What of `from` is not in `taken`; both sorted and disjoint.
[[nodiscard]] std::vector<Interval> subtract(std::span<const Interval> from,
                                             std::span<const Interval> taken);

// The stretches between neighbours.
[[nodiscard]] std::vector<Interval> gaps_between(std::span<const Interval> merged);

[[nodiscard]] std::int64_t length(const Interval& interval);
[[nodiscard]] std::int64_t length(std::span<const Interval> intervals);

// How long at least one of these events ran; they need a time and a length.
[[nodiscard]] std::int64_t busy_ns(const Trace& trace, std::span<const EventId> events);

}  // namespace tracelens
