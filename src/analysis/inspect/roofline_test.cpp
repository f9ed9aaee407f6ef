#include <tracelens/roofline.hpp>

#include <gtest/gtest.h>

#include "perf/registry/test_call.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

Signature mm(const char* dims) {
  return perf::signature_from_json(dims, R"(["c10::BFloat16", "c10::BFloat16"])", "", "");
}

class RooflineTest : public testing::Test {
 protected:
  RooflineTest() {
    gpu_.name = "test GPU";
    gpu_.memory_gbps = 1000;
    gpu_.peak_tflops["matrix_bf16"] = 100;
  }
  [[nodiscard]] Roofline measure() {
    const Trace trace = test_.finish();
    return measure_roofline(trace, gpu_);
  }
  void call(const char* op, double ts, double gpu_us, const Signature& arguments) {
    test_.op(op, ts, 10, arguments);
    test_.launch("cudaLaunchKernel", ts + 1, 1, {.ts = 10 * ts, .dur = gpu_us});
  }

  TestTrace test_;
  Gpu gpu_;
};

TEST_F(RooflineTest, CallsWithTheSameArgumentsAreOnePoint) {
  const Signature square = mm("[[1024, 1024], [1024, 1024]]");
  call("aten::mm", 0, 50, square);
  call("aten::mm", 100, 150, square);
  call("aten::mm", 200, 300, mm("[[1024, 512], [512, 1024]]"));
  const Roofline roofline = measure();
  ASSERT_EQ(roofline.points.size(), 2u);
  EXPECT_EQ(roofline.points[0].calls, 1);  // the most GPU time first
  const RooflinePoint& both = roofline.points[1];
  EXPECT_EQ(both.calls, 2);
  EXPECT_EQ(both.busy_ns, 200'000);
  EXPECT_DOUBLE_EQ(both.share, 40);
  constexpr double kFlops = 2.0 * 1024 * 1024 * 1024, kBytes = 2.0 * 3 * 1024 * 1024;
  EXPECT_DOUBLE_EQ(both.flops, 2 * kFlops);
  EXPECT_DOUBLE_EQ(*both.intensity(), kFlops / kBytes);
  EXPECT_DOUBLE_EQ(*both.tflops(), 2 * kFlops / 200e-6 / 1e12);
  EXPECT_EQ(*both.bound, Bound::kCompute);
  EXPECT_DOUBLE_EQ(*both.attainable_tflops, 100);
  EXPECT_DOUBLE_EQ(*both.percent_of_roof(), *both.tflops());  // the roof is 100 TFLOP/s
}

TEST_F(RooflineTest, BelowTheRidgeTheRoofIsTheMemory) {
  call("aten::mm", 0, 50, mm("[[4096, 1], [1, 4096]]"));
  const Roofline roofline = measure();
  ASSERT_EQ(roofline.points.size(), 1u);
  const RooflinePoint& point = roofline.points[0];
  EXPECT_EQ(*point.bound, Bound::kMemory);
  EXPECT_DOUBLE_EQ(*point.attainable_tflops, *point.intensity());  // at 1 TB/s
  EXPECT_DOUBLE_EQ(*point.percent_of_roof(), *point.terabytes() * 100);
}

TEST_F(RooflineTest, OpsWithoutModelOrArgumentsCountInTheTimeOnly) {
  call("aten::mm", 0, 100, mm("[[64, 64], [64, 64]]"));
  call("my::op", 100, 200, mm("[[64, 64], [64, 64]]"));
  test_.op("aten::mm", 300, 10);
  test_.launch("cudaLaunchKernel", 301, 1, {.ts = 3000, .dur = 100});
  const Roofline roofline = measure();
  ASSERT_EQ(roofline.points.size(), 1u);
  EXPECT_EQ(roofline.all_ops_ns, 400'000);
  EXPECT_DOUBLE_EQ(roofline.covered(), 25);
}

TEST_F(RooflineTest, APeakThatTheGpuDoesNotHaveLeavesTheRoofEmpty) {
  gpu_.peak_tflops.clear();
  call("aten::mm", 0, 100, mm("[[64, 64], [64, 64]]"));
  const Table table = roofline_table(measure());
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_FALSE(table.column("achieved").is_missing(0));
  EXPECT_TRUE(table.column("% of roof").is_missing(0));
  EXPECT_TRUE(table.column("bound").is_missing(0));
}

TEST_F(RooflineTest, AnEmptyTraceHasNoPoints) {
  const Roofline roofline = measure();
  EXPECT_TRUE(roofline.points.empty());
  EXPECT_EQ(roofline.covered(), 0);
}

}  // namespace
}  // namespace tracelens
