#include <tracelens/roofline.hpp>

#include <gtest/gtest.h>

namespace tracelens::perf {
namespace {

Gpu gpu_of(double tflops, double gbps) {
  Gpu gpu;
  gpu.memory_gbps = gbps;
  gpu.peak_tflops["matrix_bf16"] = tflops;
  return gpu;
}

Work work_of(double flops, std::optional<double> bytes) {
  return {.flops = flops, .bytes = bytes, .compute_spec = "matrix_bf16", .params = {}};
}

TEST(Roofline, TheSlowerOfComputeAndMemoryIsTheBound) {
  const auto compute = roofline(work_of(4e12, 1e9), gpu_of(2, 1000));
  ASSERT_TRUE(compute);
  EXPECT_DOUBLE_EQ(compute->best_us, 2e6);
  EXPECT_EQ(bound_name(compute->bound), "COMPUTE_BOUND");
  const auto memory = roofline(work_of(1e9, 4e12), gpu_of(2, 1000));
  ASSERT_TRUE(memory);
  EXPECT_DOUBLE_EQ(memory->best_us, 4e6);
  EXPECT_EQ(bound_name(memory->bound), "MEMORY_BOUND");
}

TEST(Roofline, EqualTimesCountAsComputeBound) {
  EXPECT_EQ(roofline(work_of(2e12, 1e12), gpu_of(2, 1000))->bound, Bound::kCompute);
}

TEST(Roofline, PercentIsBestTimeOverTimeTaken) {
  const auto roof = roofline(work_of(2e12, 1), gpu_of(2, 1000));
  EXPECT_DOUBLE_EQ(*roof->percent_of(4e6), 25);
  EXPECT_EQ(roof->percent_of(0), std::nullopt);
}

TEST(Roofline, MissingFiguresGiveNoRoof) {
  EXPECT_FALSE(roofline(work_of(1, std::nullopt), gpu_of(2, 1000)));
  EXPECT_FALSE(roofline(work_of(1, 1), Gpu{}));
  Work other = work_of(1, 1);
  other.compute_spec = "matrix_fp4";
  EXPECT_FALSE(roofline(other, gpu_of(2, 1000)));
}

TEST(Roofline, WorkWithoutFlopsHasAMemoryRoofInOurEditionOnly) {
  EXPECT_FALSE(roofline(work_of(0, 1e9), gpu_of(2, 1000)));
  const auto roof = roofline(work_of(0, 1e9), gpu_of(2, 1000), Edition::kExtended);
  ASSERT_TRUE(roof);
  EXPECT_EQ(roof->bound, Bound::kMemory);
  EXPECT_DOUBLE_EQ(roof->best_us, 1e3);
}

TEST(Roofline, AchievablePeaksAreASeparateChoice) {
  Gpu gpu = gpu_of(2, 1000);
  EXPECT_FALSE(roofline(work_of(1, 1), gpu, Edition::kReference, Peaks::kAchievable));
  gpu.achievable_tflops["matrix_bf16"] = 1;
  EXPECT_DOUBLE_EQ(
      roofline(work_of(1e12, 1), gpu, Edition::kReference, Peaks::kAchievable)->best_us, 1e6);
}

}  // namespace
}  // namespace tracelens::perf
