#include "readers/perfetto/flows.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tracelens::perfetto {
namespace {

Mark begin_at(std::int64_t ts_ns, std::uint32_t track, std::uint64_t order) {
  return {.ts_ns = ts_ns, .order = order, .track = track};
}

TEST(FlowLog, LeadsFromSliceToSliceInTimeUntilItIsTerminated) {
  FlowLog flows;
  flows.add(7, true, begin_at(30, 0, 0));
  flows.add(7, false, begin_at(10, 1, 1));
  flows.add(7, false, begin_at(20, 2, 2));
  flows.add(8, false, begin_at(20, 2, 2));
  flows.add(7, false, begin_at(40, 2, 3));
  const std::vector<Flow> steps = flows.connect({true, true, true});
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].from_ns, 10);
  EXPECT_EQ(steps[0].to_ns, 20);
  EXPECT_EQ(steps[1].from_ns, 20);
  EXPECT_EQ(steps[1].to_ns, 30);
  EXPECT_EQ(flows.steps(), 2);
}

TEST(FlowLog, NumbersTheWantedStepsAmongAllOfThem) {
  FlowLog flows;
  constexpr std::uint64_t kFlows = 100'000;  // so many that they are in several parts
  for (std::uint64_t i = 0; i < kFlows; ++i) {
    const auto ts_ns = static_cast<std::int64_t>((kFlows - i) * 10);
    const std::uint32_t track = i % 4 == 0 ? 0 : 1;
    flows.add(i * 0x9E3779B97F4A7C15, false, begin_at(ts_ns, 0, 2 * i));
    flows.add(i * 0x9E3779B97F4A7C15, false, begin_at(ts_ns + 1, track, 2 * i + 1));
  }
  const std::vector<Flow> steps = flows.connect({true, false});
  ASSERT_EQ(steps.size(), kFlows / 4);
  EXPECT_EQ(flows.steps(), static_cast<std::int64_t>(kFlows));
  for (const Flow& step : steps) {
    ASSERT_EQ(step.to_ns, step.from_ns + 1);
    ASSERT_EQ(step.number, step.from_ns / 10 - 1);
  }
}

TEST(FlowLog, AStepOfASliceToItselfComesAfterTheStepToIt) {
  FlowLog flows;
  flows.add(7, false, begin_at(10, 1, 0));  // a track that is not wanted
  flows.add(7, false, begin_at(20, 0, 1));
  flows.add(7, false, begin_at(20, 0, 1));
  const std::vector<Flow> steps = flows.connect({true, false});
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].number, 1);
}

}  // namespace
}  // namespace tracelens::perfetto
