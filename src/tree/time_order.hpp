// time_order.hpp: events of a trace in order of time; equal times keep file order.
//   sort_by_time(rows, trace.ts_ns(), scratch);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

namespace tracelens {

// A stable sort of what is in order by long stretches: a profiler writes a handful of lists, each in
// order, one after another. The sort finds these runs and merges them, so the usual cost is one or two
// passes. `scratch` is reused from call to call.
template <class T, class Less>
void merge_runs(std::span<T> items, std::vector<T>& scratch, const Less& less) {
  std::vector<std::size_t> bounds{0};  // of the runs: run i is [bounds[i], bounds[i + 1])
  for (std::size_t i = 1; i < items.size(); ++i)
    if (less(items[i], items[i - 1])) bounds.push_back(i);
  bounds.push_back(items.size());
  if (bounds.size() <= 2) return;

  scratch.resize(items.size());
  std::span<T> from = items, to = std::span{scratch}.first(items.size());
  while (bounds.size() > 2) {
    std::vector<std::size_t> merged{0};
    std::size_t run = 0;
    for (; run + 2 < bounds.size(); run += 2) {
      const auto at = [&](std::size_t bound) {
        return from.begin() + static_cast<std::ptrdiff_t>(bounds[bound]);
      };
      std::merge(at(run), at(run + 1), at(run + 1), at(run + 2),
                 to.begin() + static_cast<std::ptrdiff_t>(bounds[run]), less);
      merged.push_back(bounds[run + 2]);
    }
    if (run + 1 < bounds.size()) {  // an odd run out: only copied
      std::ranges::copy(from.subspan(bounds[run]),
                        to.begin() + static_cast<std::ptrdiff_t>(bounds[run]));
      merged.push_back(bounds[run + 1]);
    }
    // What was written block by block often is in order once each block is: no need to merge on.
    bounds.assign({0});
    for (std::size_t i = 1; i + 1 < merged.size(); ++i)
      if (less(to[merged[i]], to[merged[i] - 1])) bounds.push_back(merged[i]);
    bounds.push_back(items.size());
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::ranges::copy(from, items.begin());
}

// Sorts rows by (ts, row).
void sort_by_time(std::span<std::uint32_t> rows, std::span<const std::int64_t> ts_ns,
                  std::vector<std::uint32_t>& scratch);
void sort_by_time(std::span<EventId> events, std::span<const std::int64_t> ts_ns);

}  // namespace tracelens
