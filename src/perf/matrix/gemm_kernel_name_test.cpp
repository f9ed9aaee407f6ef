#include "perf/matrix/gemm_kernel_name.hpp"

#include <gtest/gtest.h>

namespace tracelens::perf {
namespace {

TEST(GemmKernelName, TensileNamesItsTransposesAndTile) {
  const auto kernel = parse_gemm_kernel("Cijk_Alik_Bljk_BBS_BH_MT128x64x32_MI32");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->transpose_a, true);
  EXPECT_EQ(kernel->transpose_b, false);
  ASSERT_TRUE(kernel->tile);
  EXPECT_EQ(kernel->tile->m, 128);
  EXPECT_EQ(kernel->tile->n, 64);
  EXPECT_EQ(kernel->tile->depth, 32);
}

TEST(GemmKernelName, TensileMayLeaveThingsOpen) {
  const auto kernel = parse_gemm_kernel("Cijk_Axyz_Bjlk_MT12x_rest");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->transpose_a, std::nullopt);
  EXPECT_EQ(kernel->transpose_b, true);
  EXPECT_FALSE(kernel->tile);
}

TEST(GemmKernelName, NvjetEndsInItsTransposes) {
  const auto kernel = parse_gemm_kernel("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->transpose_a, true);
  EXPECT_EQ(kernel->transpose_b, false);
}

TEST(GemmKernelName, CutOffNamesDoNotParse) {
  EXPECT_FALSE(parse_gemm_kernel("nvjet_tst_T"));
  EXPECT_FALSE(parse_gemm_kernel("nvjet_"));
  EXPECT_FALSE(parse_gemm_kernel("Cijk_Alik_B"));
  EXPECT_FALSE(parse_gemm_kernel(""));
  EXPECT_FALSE(parse_gemm_kernel("ampere_sgemm_128x64_tn"));
}

TEST(GemmKernelName, FirstKernelThatParsesDecides) {
  const std::string_view kernels[] = {"Memset (Device)", "nvjet_x_NTT", "nvjet_x_TNT"};
  EXPECT_EQ(gemm_transpose(kernels), Value::tuple({false, true}));
  EXPECT_EQ(gemm_transpose({}), std::nullopt);
}

}  // namespace
}  // namespace tracelens::perf
