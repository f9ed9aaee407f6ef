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

#include "io/parallel.hpp"

namespace tracelens {

// [first, first_end) and [second, second_end), each in order, are to be merged to where `to` begins. They
// are two neighbouring runs, or a piece of each: then all before these pieces is less, and `to` leaves room for it.
struct RunPair {
  std::size_t first, first_end, second, second_end, to;
};

// Tells of the pairs that the runs between `bounds` make, an odd one out with nothing, in pieces of at most
// so many of the first.
template <class T, class Less, class Use>
void for_each_run_pair(std::span<const T> items, std::span<const std::size_t> bounds,
                       std::size_t most, const Less& less, const Use& use) {
  for (std::size_t run = 0; run + 1 < bounds.size(); run += 2) {
    const std::size_t middle = bounds[run + 1],
                      end = run + 2 < bounds.size() ? bounds[run + 2] : middle;
    std::size_t first = bounds[run], second = middle;
    while (first < middle) {
      const std::size_t first_end = middle - first > most ? first + most : middle;
      std::size_t second_end = end;
      if (first_end < middle)
        second_end = static_cast<std::size_t>(
            std::lower_bound(items.begin() + static_cast<std::ptrdiff_t>(second),
                             items.begin() + static_cast<std::ptrdiff_t>(end), items[first_end],
                             less) -
            items.begin());
      use(RunPair{first, first_end, second, second_end, first + second - middle});
      first = first_end;
      second = second_end;
    }
  }
}

// Merges the runs between `bounds`, of which there are no empty ones, until one is left.
template <class T, class Less>
void merge_neighbours(std::span<T> items, std::vector<T>& scratch, std::vector<std::size_t> bounds,
                      const Less& less, int threads) {
  if (bounds.size() <= 2) return;
  scratch.resize(items.size());
  std::span<T> from = items, to = std::span{scratch}.first(items.size());
  const auto merge = [&](const RunPair& pair) {
    const auto at = [](std::span<T> all, std::size_t place) {
      return all.begin() + static_cast<std::ptrdiff_t>(place);
    };
    std::merge(at(from, pair.first), at(from, pair.first_end), at(from, pair.second),
               at(from, pair.second_end), at(to, pair.to), less);
  };
  while (bounds.size() > 2) {
    if (threads == 1) {
      for_each_run_pair<T>(from, bounds, items.size(), less, merge);
    } else {
      std::vector<RunPair> pairs;
      for_each_run_pair<T>(from, bounds, io::Ranges::kRangeSize / 2, less,
                           [&](const RunPair& pair) { pairs.push_back(pair); });
      io::for_each_part(threads, pairs.size(), [&](std::size_t i) { merge(pairs[i]); });
    }
    // What was written block by block often is in order once each block is: no need to merge on.
    std::vector<std::size_t> left{0};
    for (std::size_t run = 2; run + 1 < bounds.size(); run += 2)
      if (less(to[bounds[run]], to[bounds[run] - 1])) left.push_back(bounds[run]);
    left.push_back(items.size());
    bounds = std::move(left);
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::ranges::copy(from, items.begin());
}

// A stable sort of what is in order by long stretches: a profiler writes a handful of lists, each in
// order, one after another. The sort finds these runs and merges them, so the usual cost is one or two
// passes. `scratch` is reused from call to call.
template <class T, class Less>
void merge_runs(std::span<T> items, std::vector<T>& scratch, const Less& less, int threads = 1) {
  const io::Ranges ranges{threads, items.size()};
  std::vector<std::size_t> bounds{0};  // of the runs: run i is [bounds[i], bounds[i + 1])
  if (ranges.parts() < 2) {
    threads = 1;
    for (std::size_t i = 1; i < items.size(); ++i)
      if (less(items[i], items[i - 1])) bounds.push_back(i);
  } else {
    io::for_each_part(threads, ranges.parts(), [&](std::size_t part) {
      std::vector<T> own_scratch;
      const std::size_t begin = ranges.begin(part);
      merge_runs(items.subspan(begin, ranges.end(part) - begin), own_scratch, less);
    });
    for (std::size_t part = 1; part < ranges.parts(); ++part)
      if (const std::size_t i = ranges.begin(part); less(items[i], items[i - 1]))
        bounds.push_back(i);
  }
  bounds.push_back(items.size());
  merge_neighbours(items, scratch, std::move(bounds), less, threads);
}

// Sorts rows by (ts, row).
void sort_by_time(std::span<std::uint32_t> rows, std::span<const std::int64_t> ts_ns,
                  std::vector<std::uint32_t>& scratch, int threads = 1);
void sort_by_time(std::span<EventId> events, std::span<const std::int64_t> ts_ns, int threads = 1);

}  // namespace tracelens
