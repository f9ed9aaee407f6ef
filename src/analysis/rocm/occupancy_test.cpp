#include "analysis/rocm/occupancy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tracelens/read_trace.hpp>

#include "analysis/rocm/rocprof_tables.hpp"

namespace tracelens {
namespace {

// 4 SIMDs of 8 waves of 64 work-items.
constexpr ComputeUnit kUnit{.wave_size = 64, .waves = 32, .lds_bytes = 64 << 10, .registers = 512};

TEST(Occupancy, IsFullWhenNothingIsScarce) {
  const auto all = occupancy({.group_items = 256, .registers = 64, .lds_bytes = 8 << 10}, kUnit);
  ASSERT_TRUE(all);
  EXPECT_DOUBLE_EQ(all->percent, 100);
  EXPECT_EQ(all->limit, "waves");
}

TEST(Occupancy, RegistersAreHandedOutInBlocksOfEight) {
  // 512 / 128 = 4 waves on each SIMD of 8; one register more takes 136 and leaves room for 3.
  const auto even = occupancy({.group_items = 256, .registers = 128}, kUnit);
  const auto more = occupancy({.group_items = 256, .registers = 129}, kUnit);
  ASSERT_TRUE(even && more);
  EXPECT_DOUBLE_EQ(even->percent, 50);
  EXPECT_DOUBLE_EQ(more->percent, 37.5);
  EXPECT_EQ(more->limit, "registers");
}

TEST(Occupancy, LocalMemoryHoldsWholeWorkGroups) {
  // 64 KiB hold two groups of 24 KiB, of 4 waves each.
  const auto two = occupancy({.group_items = 256, .lds_bytes = 24 << 10}, kUnit);
  ASSERT_TRUE(two);
  EXPECT_DOUBLE_EQ(two->percent, 2 * 4 / 32.0 * 100);
  EXPECT_EQ(two->limit, "LDS");
}

TEST(Occupancy, APartOfAWaveTakesAWholeOne) {
  const auto odd = occupancy({.group_items = 65}, kUnit);
  ASSERT_TRUE(odd);
  EXPECT_DOUBLE_EQ(odd->percent, 100);  // 16 groups of 2 waves
  const auto thirds = occupancy({.group_items = 640}, kUnit);
  EXPECT_DOUBLE_EQ(thirds->percent, 3 * 10 / 32.0 * 100);
}

TEST(Occupancy, OfAGroupThatDoesNotFitIsUnknown) {
  EXPECT_FALSE(occupancy({.group_items = 64, .lds_bytes = 65 << 10}, kUnit));
  EXPECT_FALSE(occupancy({.group_items = 1 << 20}, kUnit));
  EXPECT_FALSE(occupancy({.group_items = 64, .registers = 1 << 20}, kUnit));
}

Trace profile(const std::string& agent_members) {
  return read_trace_bytes(
      "x_results.json",
      R"({"rocprofiler-sdk-tool":[{"agents":[{"id":{"handle":1},"type":2,)" + agent_members +
          R"("wave_front_size":64,"lds_size_in_kb":64}],)"
          R"("kernel_symbols":[{"kernel_id":1,"kernel_name":"k","arch_vgpr_count":96,"accum_vgpr_count":32}],)"
          R"("buffer_records":{"kernel_dispatch":[{"start_timestamp":0,"end_timestamp":5,"dispatch_info":)"
          R"({"kernel_id":1,"agent_id":{"handle":1},"workgroup_size":{"x":256,"y":1,"z":1}}}]}}]})");
}

TEST(RocprofKernelDetails, TellTheOccupancyWhereTheLimitsOfTheGpuAreKnown) {
  const Trace known = profile(R"("name":"gfx942","max_waves_per_cu":32,)");
  const Table table = rocprof_kernel_details(RocprofKernels{known});
  EXPECT_DOUBLE_EQ(table.column("occupancy").reals()[0], 50);
  EXPECT_EQ(table.column("limited by").texts()[0], "registers");
  EXPECT_FALSE(rocprof_kernel_details(RocprofKernels{known}, {.edition = Edition::kReference})
                   .has_column("occupancy"));
  for (const auto* other : {R"("name":"gfx942",)", R"("name":"gfx1100","max_waves_per_cu":32,)"}) {
    const Trace unknown = profile(other);
    EXPECT_FALSE(rocprof_kernel_details(RocprofKernels{unknown}).has_column("occupancy"));
  }
}

}  // namespace
}  // namespace tracelens
