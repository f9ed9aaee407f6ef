#include "io/for_all.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tracelens::io {
namespace {

TEST(ForAll, EveryPieceIsDoneOnceOnAnyNumberOfThreads) {
  for (const int threads : {-1, 0, 1, 2, 7})
    for (const std::size_t count : {0u, 1u, 1000u}) {
      std::vector<std::atomic<int>> done(count);
      for_all(count, threads, [&](std::size_t i) { ++done[i]; });
      EXPECT_TRUE(std::ranges::all_of(done, [](int times) { return times == 1; })) << threads;
    }
}

TEST(ForAll, ThrowsWhatAPieceThrew) {
  for (const int threads : {1, 4})
    EXPECT_THROW(for_all(100, threads,
                         [](std::size_t i) {
                           if (i == 57) throw std::runtime_error{"57"};
                         }),
                 std::runtime_error);
}

}  // namespace
}  // namespace tracelens::io
