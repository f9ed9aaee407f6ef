#include "io/parallel.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

namespace tracelens::io {
namespace {

TEST(Parallel, EveryPartIsDoneOnce) {
  for (const int threads : {1, 2, 7})
    for (const std::size_t parts : {std::size_t{0}, std::size_t{1}, std::size_t{100}}) {
      std::vector<int> done(parts);
      for_each_part(threads, parts, [&](std::size_t part) { ++done[part]; });
      EXPECT_EQ(done, std::vector<int>(parts, 1));
    }
}

TEST(Parallel, RangesCoverAll) {
  constexpr std::size_t kMany = Ranges::kRangeSize * 3 + 5;
  for (const int threads : {1, 4})
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, kMany}) {
      std::vector<char> seen(count);
      for_each_range(threads, count, [&](std::size_t begin, std::size_t end) {
        for (; begin < end; ++begin) ++seen[begin];
      });
      EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), std::size_t{0}), count);
    }
}

TEST(Parallel, AFailureIsThrown) {
  for (const int threads : {1, 3})
    EXPECT_THROW(for_each_part(threads, 10,
                               [](std::size_t part) {
                                 if (part == 5) throw std::runtime_error{"part"};
                               }),
                 std::runtime_error);
}

}  // namespace
}  // namespace tracelens::io
