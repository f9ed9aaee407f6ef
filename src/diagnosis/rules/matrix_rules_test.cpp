#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"
#include "diagnosis/rules/gemm_tiles.hpp"

namespace tracelens {

extern const Rule kConv1, kConv2, kConv3, kGemm1, kGemm2, kGemm3, kGemm4, kGemm6, kGemm7, kMoe1,
    kMoe2, kMoe3;

namespace {

constexpr const char *kHalf = "c10::BFloat16", *kFloat = "float";

TestOp product(int m, int n, int k, double us, std::string_view kernel = "nvjet_tst_128x128") {
  return {.name = "aten::mm",
          .dims = {shape({m, k}), shape({k, n})},
          .types = {kHalf, kHalf},
          .kernel = kernel,
          .us = us};
}

TEST(Gemm1, ProductsBelowTheRunsOwnBest) {
  const TestOp best = product(4096, 4096, 4096, 200);  // 139 us at the peak: 69 %
  TestRun good{run_of({best})};
  EXPECT_FALSE(good.find(kGemm1));
  TestRun run{run_of({best, product(4096, 2048, 4096, 800)})};  // 9 %
  const auto draft = run.find(kGemm1);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->edit.gpu().size(), 10U);
  EXPECT_NEAR(run.saving_percent(*draft), 70, 4);
}

TEST(Gemm2, SizesThatAreNoMultipleOf16Bytes) {
  TestRun run{run_of({product(8192, 50257, 768, 6700)})};
  const auto draft = run.find(kGemm2);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 86, 3);
  TestRun aligned{run_of({product(8192, 50304, 768, 6700)})};
  EXPECT_FALSE(aligned.find(kGemm2));
}

TEST(Gemm3, LongSumsOfFewTiles) {
  TestRun run{run_of({product(256, 256, 65536, 200)})};  // four tiles of 128 x 128
  const auto draft = run.find(kGemm3);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 80);
  TestRun fast{run_of({product(256, 256, 65536, 20)})};
  EXPECT_FALSE(fast.find(kGemm3));
  TestRun many{run_of({product(4096, 4096, 4096, 1000)})};
  EXPECT_FALSE(many.find(kGemm3));
}

TEST(Gemm4, AWaveMoreForAFewTiles) {
  TestRun run{run_of({product(1536, 1536, 8192, 100)})};  // 144 tiles for 132 units
  const auto draft = run.find(kGemm4);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 43, 4);
  TestRun filled{run_of({product(4096, 4096, 4096, 1000)})};  // 1024 tiles in 8 waves
  EXPECT_FALSE(filled.find(kGemm4));
  TestRun split{run_of({product(1536, 1536, 8192, 100, "cutlass_gemm_128x128_streamk")})};
  EXPECT_FALSE(split.find(kGemm4));
}

// A loop of products in one call of a module, with a turn's other work.
Trace loop(int turns, int n, bool selects) {
  TestTrace t;
  double at = 10;
  t.python("nn.Module: Heads_0", 5, 40.0 * turns);
  for (int i = 0; i < turns; ++i) {
    if (selects) {
      t.op("aten::index_select", at, 9, arguments_of({.name = "", .dims = {}, .types = {}}));
      t.launch("cudaLaunchKernel", at + 2, 4, {.name = "gather", .ts = at + 8, .dur = 2});
    }
    t.op("aten::mm", at + 10, 9, arguments_of(product(512, n, 256, 0)));
    t.launch("cudaLaunchKernel", at + 12, 4, {.name = "nvjet", .ts = at + 18, .dur = 4});
    t.op("aten::tanh", at + 20, 9);
    t.launch("cudaLaunchKernel", at + 22, 4, {.name = "tanh", .ts = at + 28, .dur = 2});
    at += 30;
  }
  add_step(t, 1, 0, at + 50);
  return t.finish();
}

TEST(Gemm6, ALoopOfSmallProducts) {
  TestRun run{loop(16, 64, false)};
  const auto draft = run.find(kGemm6);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 50);
  EXPECT_FALSE(run.find(kMoe2));
  TestRun layers{loop(16, 256, false)};  // each may need the one before
  EXPECT_FALSE(layers.find(kGemm6));
  TestRun few{loop(4, 64, false)};
  EXPECT_FALSE(few.find(kGemm6));
}

// Ops of a captured graph have no host time of their own.
TEST(Gemm6, ProductsAtTheSameMomentAreNoLoop) {
  TestTrace t;
  t.python("nn.Module: Heads_0", 5, 100);
  for (int i = 0; i < 16; ++i) {
    t.op("aten::mm", 10, 0, arguments_of(product(512, 64, 256, 0)));
    t.launch("cudaLaunchKernel", 10, 0, {.name = "nvjet", .ts = 18.0 + 4 * i, .dur = 4});
  }
  add_step(t, 1, 0, 120);
  TestRun run{t.finish()};
  EXPECT_FALSE(run.find(kGemm6));
  EXPECT_FALSE(run.find(kMoe2));
}

TEST(Moe2, ALoopThatPicksRows) {
  TestRun run{loop(16, 64, true)};
  const auto draft = run.find(kMoe2);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 25);
  EXPECT_FALSE(run.find(kGemm6));
}

Trace grouped_products(double one_us) {
  const TestOp op{
      .name = "", .dims = {shape({1024, 512}), shape({8, 512, 256})}, .types = {kHalf, kHalf}};
  TestTrace t;
  double gpu = 100;
  for (int i = 0; i < 10; ++i) {
    t.op("aten::_grouped_mm", 10.0 * i, 9, arguments_of(op));
    const double us = i == 0 ? one_us : 100;
    t.launch("cudaLaunchKernel", 10.0 * i + 2, 4, {.name = "grouped", .ts = gpu, .dur = us});
    gpu += us;
  }
  add_step(t, 1, 0, gpu + 10);
  return t.finish();
}

TEST(Moe1, GroupedProductsOfOneShapeThatVary) {
  TestRun run{grouped_products(2000)};
  const auto draft = run.find(kMoe1);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->edit.gpu().size(), 1U);  // what takes longer than the mean
  TestRun even{grouped_products(110)};
  EXPECT_FALSE(even.find(kMoe1));
}

TestOp experts(int tokens) {
  return {.name = "pseudo_op::moe_aiter_fused_1stage",
          .dims = {shape({tokens, 7168}), shape({256, 4096, 7168}), shape({256, 7168, 2048}),
                   shape({tokens, 8}), shape({tokens, 8})},
          .types = {kHalf, "c10::Float8_e4m3fnuz", "c10::Float8_e4m3fnuz", kFloat, "int"},
          .us = 10000};
}

TEST(Moe3, SomeTokensForManyExperts) {
  TestRun run{run_of({experts(128)})};  // four tokens each; 11 GB of weights
  const auto draft = run.find(kMoe3);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 71, 3);
  TestRun many{run_of({experts(4096)})};
  EXPECT_FALSE(many.find(kMoe3));
}

TEST(Gemm7, ALayoutThatTheRunDoesFaster) {
  TestOp slow = product(4096, 4096, 4096, 400);
  TestRun run{run_of({product(4096, 4096, 4096, 200), slow}, 12)};
  EXPECT_FALSE(run.find(kGemm7));  // one group: the same arguments
  slow.name = "aten::addmm";
  slow.dims = {shape({4096}), shape({4096, 4096}), shape({4096, 4096})};
  slow.types = {kHalf, kHalf, kHalf};
  TestRun two{run_of({product(4096, 4096, 4096, 200), slow}, 12)};
  const auto draft = two.find(kGemm7);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(two.saving_percent(*draft), 33, 3);
}

TEST(GemmTiles, AreInTheNamesOfKernels) {
  const auto tile = [](std::string_view name) {
    const auto found = tile_of(name);
    return found ? std::pair{found->first, found->second} : std::pair{0.0, 0.0};
  };
  EXPECT_EQ(tile("nvjet_sm90_tst_192x128_64x4_2x1_v_bz_coopB_TNN"), (std::pair{192.0, 128.0}));
  EXPECT_EQ(tile("Cijk_Alik_Bljk_BBS_BH_MT256x64x32_MI"), (std::pair{256.0, 64.0}));
  EXPECT_EQ(tile("sm80_xmma_gemm_f32f32_f32_nn_n_tilesize64x32x8_stage3"), (std::pair{64.0, 32.0}));
  EXPECT_EQ(tile("elementwise_kernel<128, 4>"), (std::pair{0.0, 0.0}));
}

TestOp convolution(const char* type, double us, std::string_view kernel) {
  return {.name = "aten::convolution",
          .dims = {shape({32, 128, 64, 64}), shape({128, 128, 3, 3}), shape({}), shape({}),
                   shape({}), shape({}), shape({}), shape({}), shape({})},
          .types = {type, type, "", "ScalarList", "ScalarList", "ScalarList", "Scalar",
                    "ScalarList", "Scalar"},
          .kernel = kernel,
          .us = us};
}
Trace convolutions(const char* type, double us, std::string_view kernel, bool turns) {
  TestTrace t;
  double gpu = 100;
  for (int i = 0; i < 10; ++i) {
    Signature call = arguments_of(convolution(type, us, kernel));
    call.concrete =
        Value::tuple({"", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"});
    t.op("aten::convolution", 20.0 * i, 18, call);
    if (turns) {
      t.launch("cudaLaunchKernel", 20.0 * i + 2, 3,
               {.name = "cudnn::nchwToNhwcKernel", .ts = gpu, .dur = us / 2});
      gpu += us / 2;
    }
    t.launch("cudaLaunchKernel", 20.0 * i + 8, 3, {.name = kernel, .ts = gpu, .dur = us});
    gpu += us;
  }
  add_step(t, 1, 0, gpu + 10);
  return t.finish();
}

TEST(Conv2, TransposesGoAndKernelsOfTheOtherLayoutAreFaster) {
  TestRun run{convolutions(kHalf, 200, "sm90_fprop", true)};
  const auto draft = run.find(kConv2);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 50);  // a third are transposes
  TestRun slow{convolutions(kHalf, 5000, "sm90_fprop", true)};
  EXPECT_EQ(slow.find(kConv2)->confidence, Confidence::kMedium);  // fifty times as fast: who knows
  TestRun close{convolutions(kHalf, 90, "sm90_fprop", true)};
  EXPECT_EQ(close.find(kConv2)->confidence, Confidence::kHigh);
  TestRun none{convolutions(kHalf, 200, "sm90_fprop", false)};
  EXPECT_FALSE(none.find(kConv2));
}

TEST(Conv3, Fp32WithoutTf32) {
  TestRun run{convolutions(kFloat, 900, "sm80_xmma_fprop_f32f32", false)};
  const auto draft = run.find(kConv3);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 60);
  TestRun tf32{convolutions(kFloat, 900, "sm80_xmma_fprop_tf32f32", false)};
  EXPECT_FALSE(tf32.find(kConv3));
  TestRun half{convolutions(kHalf, 900, "sm90_fprop", false)};
  EXPECT_FALSE(half.find(kConv3));
}

TEST(Conv1, FarBelowTheRoof) {
  TestRun slow{convolutions(kHalf, 400, "sm90_fprop", false)};
  const auto draft = slow.find(kConv1);
  ASSERT_TRUE(draft);
  TestRun fast{convolutions(kHalf, 50, "sm90_fprop", false)};
  EXPECT_FALSE(fast.find(kConv1));
}

}  // namespace
}  // namespace tracelens
