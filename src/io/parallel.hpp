// parallel.hpp: the same work for each of many parts, by several threads.
//   io::for_each_part(threads, parts.size(), [&](std::size_t i) { parts[i].sort(); });
//   io::for_each_range(threads, rows, [&](std::size_t begin, std::size_t end) { ... });
// Parts are begun in their order, each by whoever is free; the caller is one of the threads. Returns when all
// are done. After an exception of one no more are begun, and it is thrown when the others have ended theirs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <span>

#include "io/helpers.hpp"

namespace tracelens::io {

// Of things that take a moment each: from so many on several threads are worth their start.
inline constexpr std::size_t kManyItems = 65'536;

template <class Use>
void for_each_part(int threads, std::size_t parts, const Use& use) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&](std::size_t) {
    try {
      for (std::size_t part = next++; part < parts; part = next++) use(part);
    } catch (...) {
      next = parts;  // the others end
      throw;
    }
  };
  const std::size_t most = std::min(static_cast<std::size_t>(std::max(threads, 1)), parts);
  work_together(most > 0 ? most - 1 : 0, std::ref(work));
}

// `count` items in ranges that are worth a thread's while; all are in the first if there is but one thread.
struct Ranges {
  Ranges(int threads, std::size_t all) : count{all}, size{threads > 1 ? kRangeSize : all} {}
  void join() { size = count; }  // one part
  [[nodiscard]] std::size_t parts() const { return count == 0 ? 0 : (count + size - 1) / size; }
  [[nodiscard]] std::size_t begin(std::size_t part) const { return part * size; }
  [[nodiscard]] std::size_t end(std::size_t part) const {
    return std::min(count, (part + 1) * size);
  }
  static constexpr std::size_t kRangeSize = std::size_t{1} << 17;
  std::size_t count, size;
};

template <class Use>
void for_each_range(int threads, std::size_t count, const Use& use) {
  const Ranges ranges{threads, count};
  for_each_part(threads, ranges.parts(),
                [&](std::size_t part) { use(ranges.begin(part), ranges.end(part)); });
}

// For memory that nobody has touched yet: to be given its pages takes longer than to fill them, and is shared, too.
template <class T>
void fill(int threads, std::span<T> all, const T& value) {
  for_each_range(threads, all.size(), [&](std::size_t begin, std::size_t end) {
    std::ranges::fill(all.subspan(begin, end - begin), value);
  });
}

}  // namespace tracelens::io
