#include "analysis/gpu/busy_time.hpp"

#include <gtest/gtest.h>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(BusyTime, CountsOverlapOnce) {
  TestTrace t;
  const EventId a = t.gpu({.ts = 0, .dur = 10}), b = t.gpu({.ts = 5, .dur = 10, .stream = 8});
  const Trace trace = t.finish();
  const EventId both[] = {a, b};
  EXPECT_EQ(busy_ns(trace, both), 15'000);
  EXPECT_EQ(busy_ns(trace, {}), 0);
}

}  // namespace
}  // namespace tracelens
