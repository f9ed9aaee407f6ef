#include <tracelens/intervals.hpp>

#include <algorithm>

#include "tree/time_math.hpp"
#include "tree/time_order.hpp"

namespace tracelens {

std::vector<Interval> merge(std::vector<Interval> intervals) {
  std::vector<Interval> scratch;
  merge_runs(std::span{intervals}, scratch,
             [](const Interval& a, const Interval& b) { return a.start < b.start; });
  std::size_t kept = 0;
  for (const Interval& next : intervals) {
    if (kept > 0 && next.start <= intervals[kept - 1].end)
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, next.end);
    else
      intervals[kept++] = next;
  }
  intervals.resize(kept);
  return intervals;
}

std::vector<Interval> subtract(std::span<const Interval> from, std::span<const Interval> taken) {
  std::vector<Interval> left;
  std::size_t first = 0;  // the first interval of `taken` that may still matter
  for (const Interval& interval : from) {
    while (first < taken.size() && taken[first].end <= interval.start) ++first;
    std::int64_t at = interval.start;
    for (std::size_t i = first; i < taken.size() && taken[i].start < interval.end; ++i) {
      if (taken[i].start > at) left.push_back({at, taken[i].start});
      at = std::max(at, taken[i].end);
      if (at >= interval.end) break;
    }
    if (at < interval.end) left.push_back({at, interval.end});
  }
  return left;
}

std::vector<Interval> gaps_between(std::span<const Interval> merged) {
  std::vector<Interval> gaps;
  for (std::size_t i = 1; i < merged.size(); ++i)
    gaps.push_back({merged[i - 1].end, merged[i].start});
  return gaps;
}

std::int64_t length(const Interval& interval) { return minus_ns(interval.end, interval.start); }

std::int64_t length(std::span<const Interval> intervals) {
  std::int64_t total = 0;
  for (const Interval& interval : intervals) total = plus_ns(total, length(interval));
  return total;
}

}  // namespace tracelens
