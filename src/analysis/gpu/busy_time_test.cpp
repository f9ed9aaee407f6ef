#include "analysis/gpu/busy_time.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

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

TEST(BusyTime, StretchesAreWhatMergingTheIntervalsGives) {
  TestTrace t;
  std::vector<EventId> events;
  // Out of order, one inside another, two that touch, one without a length.
  for (const auto& [start, length] :
       {std::pair{50.0, 5.0}, {0, 20}, {5, 3}, {55, 5}, {30, 0}, {0, 4}, {90, 1}})
    events.push_back(t.gpu({.ts = start, .dur = length}));
  const Trace trace = t.finish();
  std::vector<Interval> intervals, stretches;
  for (const EventId event : events) intervals.push_back(interval_of(trace, event));
  for_each_busy_stretch(trace, events,
                        [&](const Interval& stretch) { stretches.push_back(stretch); });
  EXPECT_EQ(stretches, merge(intervals));
  EXPECT_EQ(stretches.size(), 4u);
}

}  // namespace
}  // namespace tracelens
