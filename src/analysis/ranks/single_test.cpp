#include "analysis/ranks/single.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

constexpr const char* kAllReduce =
    R"({"Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576,
        "Group size": 8, "dtype": "BFloat16", "In split size": [], "Out split size": [],
        "Process Group Name": "0", "Process Group Ranks": [0, 1]})";

void collective(TestTrace& t, double ts, double dur, const char* details) {
  const EventId event = t.gpu({.name = "ncclDevKernel_AllReduce", .ts = ts, .dur = dur}, 5);
  if (details != nullptr) t.builder().set_details(event, t.builder().intern(details));
}

TEST(CollAnalysis, EqualMessagesMakeOneRow) {
  TestTrace t;
  collective(t, 0, 10, kAllReduce);
  collective(t, 20, 14, kAllReduce);
  t.gpu({.name = "gemm", .ts = 50, .dur = 9}, 6);
  const Table table = coll_analysis(t.finish(), Edition::kReference).value();
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(cell(table, "Process Group Ranks", 0), "(0, 1)");
  EXPECT_EQ(cell(table, "In msg size (MB)_first", 0), "2.0");  // 2^20 elements of 2 bytes
  EXPECT_EQ(cell(table, "dur_mean", 0), "12.0");
  EXPECT_EQ(cell(table, "operation_count", 0), "2");
}

TEST(CollAnalysis, TheReferenceLeavesOutKernelsWithoutMessageFields) {
  TestTrace t;
  collective(t, 0, 10, nullptr);
  const Trace trace = t.finish();
  EXPECT_FALSE(coll_analysis(trace, Edition::kReference));
  const Table table = coll_analysis(trace, Edition::kExtended).value();
  EXPECT_THAT(column(table, "Process Group Name"), ElementsAre("all"));
  EXPECT_EQ(cell(table, "dtype", 0), "");
}

}  // namespace
}  // namespace tracelens
