// for_all.hpp: pieces of work that can be done at the same time, on as many threads as there may be.
//   io::for_all(tables.size(), threads, [&](std::size_t i) { packed[i] = pack(tables[i]); });
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <vector>

namespace tracelens::io {

// Calls work(0) to work(count - 1), in any order, and returns when all have returned; this thread does
// its part. Throws what one of them threw. Goes on with fewer threads when the system gives none.
template <class Work>
void for_all(std::size_t count, int threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::future<void>> others;
  const std::size_t most = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
  for (std::size_t i = 1; i < most; ++i)
    others.push_back(std::async(std::launch::async | std::launch::deferred, run));
  run();
  for (std::future<void>& other : others) other.get();
}

}  // namespace tracelens::io
