#include "query/heap_limit.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <optional>

namespace tracelens::query {
namespace {

sqlite3_int64 in_force() { return sqlite3_hard_heap_limit64(-1); }

TEST(HeapLimit, HoldsWhileStatementsRun) {
  const sqlite3_int64 before = in_force();
  {
    const HeapLimit limit{4 << 20};
    EXPECT_EQ(in_force(), 4 << 20);
  }
  EXPECT_EQ(in_force(), before);
}

TEST(HeapLimit, OfSeveralThatAllowsMost) {
  const sqlite3_int64 before = in_force();
  std::optional<HeapLimit> few{4 << 20}, more{8 << 20}, all{0};
  EXPECT_EQ(in_force(), 0);
  all.reset();
  EXPECT_EQ(in_force(), 8 << 20);
  more.reset();
  EXPECT_EQ(in_force(), 4 << 20);
  few.reset();
  EXPECT_EQ(in_force(), before);
}

}  // namespace
}  // namespace tracelens::query
