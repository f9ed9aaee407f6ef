#include "analysis/host/copies.hpp"

#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TestTrace::Launch copy(TestTrace& t, std::string_view name, double ts, double dur,
                       std::string_view details, int stream = 7) {
  const TestTrace::Launch launch = t.launch(
      "cudaMemcpyAsync", ts - 5, 4,
      {.name = name, .ts = ts, .dur = dur, .stream = stream, .category = Category::kGpuMemcpy});
  if (!details.empty()) t.builder().set_details(launch.gpu, t.builder().intern(details));
  return launch;
}

TEST(CopyBandwidth, CopiesOfOneKindBetweenTheSameMemoriesAreOneRow) {
  TestTrace t;
  copy(t, "Memcpy HtoD (Pageable -> Device)", 10, 10, R"j({"bytes":100000})j");
  copy(t, "Memcpy HtoD (Pageable -> Device)", 40, 20,
       R"j({"bytes":1000,"memory bandwidth (GB/s)":0.05})j");
  copy(t, "Memcpy HtoD (Pinned -> Device)", 100, 10, "");
  t.launch("cudaLaunchKernel", 30, 1, {.ts = 45, .dur = 5, .stream = 8});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const std::vector<CopyGroup> groups = copy_groups(work, copies_of(work));
  ASSERT_EQ(groups.size(), 2u);
  const CopyGroup& pageable = groups[0];
  EXPECT_EQ(pageable.memory, MemoryKind::kPageable);
  EXPECT_EQ(pageable.count, 2);
  EXPECT_EQ(pageable.bytes, 101'000);
  EXPECT_EQ(pageable.small, 1);
  EXPECT_EQ(pageable.busy_ns, 30'000);
  EXPECT_EQ(pageable.exposed_ns, 25'000);
  EXPECT_EQ(pageable.host_blocked_ns, 8'000);  // the driver stages: the calls wait
  EXPECT_EQ(pageable.rates, (std::vector<double>{0.05, 10}));
  EXPECT_EQ(groups[1].host_blocked_ns, 0);
  const Table table = copy_bandwidth(work, copies_of(work));
  EXPECT_EQ(column(table, "memory"), (std::vector<std::string>{"Pageable", "Pinned"}));
  EXPECT_EQ(cell(table, "bytes", 1), "");
  EXPECT_EQ(cell(table, "GB/s_p50", 1), "");
}

TEST(CopyBandwidth, ABandwidthIsInUseFromStartToEnd) {
  TestTrace t;
  copy(t, "Memcpy DtoH (Device -> Pinned)", 10, 10, R"j({"memory bandwidth (GB/s)":0.1})j");
  copy(t, "Memcpy DtoH (Device -> Pinned)", 15, 10, R"j({"memory bandwidth (GB/s)":0.2})j", 8);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const Table series = copy_bandwidth_series(work, copies_of(work));
  ASSERT_EQ(series.rows(), 4u);
  EXPECT_DOUBLE_EQ(series.column("ts").reals()[0], 5);
  EXPECT_DOUBLE_EQ(series.column("GB/s").reals()[1], 0.1 + 0.2);
  EXPECT_EQ(series.column("GB/s").reals()[3], 0);  // and nothing that rounding left
  const Table levels = copy_bandwidth_levels(work, copies_of(work));
  EXPECT_EQ(cell(levels, "kind", 0), "Memcpy DtoH");
  EXPECT_EQ(cell(levels, "count", 0), "3");
}

}  // namespace
}  // namespace tracelens
