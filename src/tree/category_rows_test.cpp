#include "tree/category_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

std::vector<std::uint32_t> rows_with(const Trace& trace, bool (*is_wanted)(Category)) {
  std::vector<std::uint32_t> rows;
  for (const EventId event : trace.all_events())
    if (is_wanted(trace.category(event))) rows.push_back(event.row);
  return rows;
}

TEST(CategoryRows, AreThoseOfTheCategoriesInFileOrder) {
  TestTrace t;
  t.op("aten::mm", 0, 20);
  t.launch("cudaLaunchKernel", 5, 5, {.name = "gemm", .ts = 15, .dur = 100});
  t.python("frame", 0, 100);
  t.runtime("cuLaunchKernel", 30, 90);
  t.launch("cudaLaunchKernel", 40, 5, {.name = "copy", .ts = 150, .dur = 100});
  const Trace trace = t.finish();
  const CategoryRows rows{trace};
  EXPECT_TRUE(std::ranges::equal(rows.calls(), rows_with(trace, is_runtime)));
  EXPECT_TRUE(std::ranges::equal(rows.gpu_events(), rows_with(trace, is_gpu)));
  EXPECT_EQ(rows.calls().size(), 3U);
  EXPECT_EQ(rows.gpu_events().size(), 2U);
  EXPECT_TRUE(rows.annotations().empty());
  EXPECT_EQ(recorded_rows(trace, rows.calls()).size(), 3U);
}

TEST(CategoryRows, AreTheSameWithAnyNumberOfThreads) {
  TestTrace t;
  for (int i = 0; i < 90'000; ++i) {
    t.op("aten::mm", 10 * i, 5);
    if (i % 3 == 0) t.python("frame", 10 * i, 5);
    t.launch("cudaLaunchKernel", 10 * i + 1, 1, {.name = "gemm", .ts = 10.0 * i + 3, .dur = 4});
  }
  const Trace trace = t.finish();
  const CategoryRows rows{trace, 5};
  EXPECT_TRUE(std::ranges::equal(rows.calls(), rows_with(trace, is_runtime)));
  EXPECT_TRUE(std::ranges::equal(rows.gpu_events(), rows_with(trace, is_gpu)));
}

TEST(CategoryRows, OfATraceWithoutEventsAreNone) {
  const Trace trace = TestTrace{}.finish();
  const CategoryRows rows{trace};
  EXPECT_TRUE(rows.calls().empty());
  EXPECT_TRUE(rows.gpu_events().empty());
  EXPECT_TRUE(rows.annotations().empty());
}

}  // namespace
}  // namespace tracelens
