#include "analysis/ranks/cost.hpp"

#include <gtest/gtest.h>

#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kMib = 1 << 18;  // floats

OperationCost cost_of(const std::vector<std::vector<TestKernel>>& kernels) {
  const CollectiveRun run = test_run(kernels);
  return operation_costs(run).at(0);
}

TEST(OperationCost, WaitingIsTheTimeBeforeTheLastRankCame) {
  const OperationCost cost = cost_of({{{.ts = 0, .dur = 100}}, {{.ts = 60, .dur = 40}}});
  EXPECT_EQ(cost.wait_ns, 30e3);  // rank 0: 60 us
  EXPECT_EQ(cost.communication_ns, 40'000);
}

TEST(OperationCost, CommunicationAndWaitingAreNeverMoreThanTheTime) {
  for (const char* name : {"allreduce", "broadcast", "all_to_allv", ""}) {
    // Rank 0 is gone long before rank 1 comes, and rank 2 leaves soon after.
    const OperationCost cost = cost_of({{{.name = name, .ts = 0, .dur = 50}},
                                        {{.name = name, .ts = 500, .dur = 40}},
                                        {{.name = name, .ts = 400, .dur = 110}}});
    EXPECT_LE(static_cast<double>(cost.communication_ns) + cost.wait_ns, cost.dur_ns) << name;
    EXPECT_EQ(cost.left_before_last, 1) << name;
    EXPECT_EQ(cost.largest_skew_ns, 500'000) << name;
  }
}

TEST(OperationCost, WhoHasLeftAnUnevenExchangeDidNotWaitButWhoIsStillThereDid) {
  const OperationCost apart = cost_of({{{.name = "all_to_allv", .ts = 0, .dur = 30}},
                                       {{.name = "all_to_allv", .ts = 600, .dur = 20}}});
  EXPECT_EQ(apart.wait_ns, 0);
  const OperationCost together = cost_of({{{.name = "all_to_allv", .ts = 0, .dur = 630}},
                                          {{.name = "all_to_allv", .ts = 600, .dur = 30}}});
  EXPECT_EQ(together.wait_ns, 300e3);
  EXPECT_EQ(together.left_before_last, 0);
}

TEST(OperationCost, BandwidthIsInBillionsOfBytesPerSecond) {
  // An all-reduce of two ranks carries its message once over each link.
  const TestKernel kernel{.dur = 100, .elements = 16 * kMib};
  EXPECT_DOUBLE_EQ(cost_of({{kernel}, {kernel}}).bus_gbps().value(),
                   16 * 1.048576e6 / 100e-6 / 1e9);
}

TEST(OperationCost, TheBandwidthOfAnUnevenExchangeIsThatOfAllItsRanks) {
  const auto sends = [](std::int64_t mib, double dur) {
    return TestKernel{.name = "all_to_allv", .dur = dur, .elements = mib * kMib};
  };
  // Half of each message goes to the other rank; (1 + 3) MiB in (10 + 30) us, waiting aside.
  const OperationCost cost = cost_of({{sends(1, 10)}, {sends(3, 30)}});
  EXPECT_DOUBLE_EQ(cost.bus_gbps().value(), 2 * 1.048576e6 / 40e-6 / 1e9);
}

}  // namespace
}  // namespace tracelens
