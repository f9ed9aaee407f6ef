#include "analysis/ops/kernel_stats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tracelens/table_text.hpp>
#include <tracelens/trace_builder.hpp>
#include <vector>

#include "analysis/kit/group_stats.hpp"

namespace tracelens {
namespace {

TEST(GroupStats, SampleAndPopulationSpreadDiffer) {
  std::vector<std::int64_t> values{1000, 3000, 5000};
  const GroupStats stats = stats_of_ns(values);
  EXPECT_DOUBLE_EQ(*stats.mean, 3);
  EXPECT_DOUBLE_EQ(*stats.median, 3);
  EXPECT_DOUBLE_EQ(*stats.std, 2);  // sqrt((4 + 0 + 4) / 2)
  EXPECT_DOUBLE_EQ(*stats.population_std, std::sqrt(8.0 / 3));
  EXPECT_DOUBLE_EQ(stats.sum, 9);
}

TEST(GroupStats, MedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  std::vector<double> values{9, 1, 4, 2};
  EXPECT_DOUBLE_EQ(*stats_of(values).median, 3);
}

TEST(GroupStats, OneValueHasNoSampleSpreadAndNoneHasNothingButASum) {
  std::vector<double> one{2}, none;
  EXPECT_FALSE(stats_of(one).std);
  EXPECT_DOUBLE_EQ(*stats_of(one).population_std, 0);
  EXPECT_FALSE(stats_of(none).mean);
  EXPECT_DOUBLE_EQ(stats_of(none).sum, 0);
}

TEST(GroupStats, ValuesThatStandForSeveralAreThoseValues) {
  std::vector<std::int64_t> all{1000, 1000, 1000, 4000, 4000, 9000};
  const std::int64_t values[] = {4000, 9000, 1000}, times[] = {2, 1, 3};
  const GroupStats stats = stats_of_ns(values, times), expected = stats_of_ns(all);
  EXPECT_EQ(stats.count, expected.count);
  EXPECT_DOUBLE_EQ(stats.sum, expected.sum);
  for (const Stat& stat : kAllStats)
    EXPECT_DOUBLE_EQ(*(stats.*stat.value), *(expected.*stat.value)) << stat.name;
  EXPECT_DOUBLE_EQ(*stats.population_std, *expected.population_std);
}

class KernelStatsTest : public testing::Test {
 protected:
  TraceBuilder builder_;
  StringId a_ = builder_.intern("a"), b_ = builder_.intern("b");
  StringId long_ = builder_.intern(std::string(63, 'x') + "\xc3\xa9y");  // 65 code points
  Trace trace_ = std::move(builder_).finish();
  KernelStats stats_{trace_};
};

TEST_F(KernelStatsTest, DurationsAreCollectedByPositionAndOtherCountsAreLeftOut) {
  const KernelUse first[] = {{a_, 7, 4000}, {b_, 7, 1000}};
  const KernelUse second[] = {{a_, 7, 6000}, {b_, 7, 1000}};
  const KernelUse odd[] = {{a_, 7, 99000}};
  stats_.add({});  // an op without kernels is no pattern
  stats_.add(first);
  stats_.add(second);
  stats_.add(odd);
  const Value cell = stats_.cell();
  ASSERT_EQ(cell.items().size(), 2u);  // the cheapest first
  EXPECT_EQ(python_repr(cell.items()[1]),
            "{'name': 'a', 'stream': 7, 'count': 2, 'total_duration_us': 10.0, "
            "'mean_duration_us': 5.0, 'median_duration_us': 5.0, 'std_dev_duration_us': 1.0, "
            "'min_duration_us': 4.0, 'max_duration_us': 6.0}");
  EXPECT_EQ(cell.items()[0].find("name")->as_text(), "b");
  EXPECT_EQ(python_repr(stats_.short_cell()),
            "[{'name': 'b', 'stream': 7, 'mean_duration_us': 1.0}, "
            "{'name': 'a', 'stream': 7, 'mean_duration_us': 5.0}]");
}

TEST_F(KernelStatsTest, NoKernelsGiveAnEmptyListAndAnEmptyCell) {
  EXPECT_EQ(python_repr(stats_.cell()), "[]");
  EXPECT_TRUE(stats_.short_cell().is_null());
}

TEST_F(KernelStatsTest, NothingIsLeftOfTheLastGroup) {
  const KernelUse first[] = {{a_, 7, 4000}, {b_, 7, 1000}};
  const KernelUse other[] = {{b_, kAbsent, 2000}};
  stats_.add(first);
  static_cast<void>(stats_.cell());
  stats_.clear();
  stats_.add(other);
  const Value cell = stats_.cell();
  ASSERT_EQ(cell.items().size(), 1u);
  EXPECT_EQ(cell.items()[0].find("count")->as_int(), 1);
  EXPECT_TRUE(cell.items()[0].find("stream")->is_null());
}

TEST_F(KernelStatsTest, WithoutRoomTheCellsAreEmptyAndItCanBeAsked) {
  KernelStats small{trace_, 3};
  const KernelUse two[] = {{a_, 7, 4000}, {b_, 7, 1000}};
  small.add(two);
  EXPECT_EQ(small.cell().items().size(), 2u);
  small.clear();
  small.add(two);
  EXPECT_TRUE(small.is_left_out());
  EXPECT_TRUE(small.cell().is_null());
  EXPECT_TRUE(small.short_cell().is_null());
  small.clear();
  small.add(std::span{two}.first(1));
  EXPECT_EQ(small.cell().items().size(), 1u);
}

TEST_F(KernelStatsTest, NamesAreCutAfter64CodePoints) {
  EXPECT_EQ(short_kernel_name(trace_.text(long_)), std::string(63, 'x') + "\xc3\xa9...");
  EXPECT_EQ(short_kernel_name(std::string(64, 'x')), std::string(64, 'x'));
}

}  // namespace
}  // namespace tracelens
