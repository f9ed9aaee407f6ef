#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kCast1, kElem1, kEmb1, kFuse1, kFuse2, kLay1, kNorm1, kRed1, kRocm1, kRocm2,
    kSoft1, kTri1, kUnm1, kVar1;

namespace {

constexpr const char *kHalf = "c10::BFloat16", *kFloat = "float";

// A gibibyte in and out at 4.3 TB/s: what this run reaches.
TestOp good(double us = 500) {
  return {.name = "aten::neg", .dims = {shape({16384, 32768})}, .types = {kHalf}, .us = us};
}
TestOp copy(const char* to, const char* from, double us, std::vector<std::string_view> parents) {
  return {.name = "aten::copy_",
          .dims = {shape({4096, 8192}), shape({4096, 8192}), shape({})},
          .types = {to, from, "Scalar"},
          .us = us,
          .parents = std::move(parents)};
}

TEST(Cast1, ConversionsThatTheUserAskedFor) {
  TestRun run{run_of({good(), copy(kFloat, kHalf, 125, {"aten::to", "aten::_to_copy"})})};
  const auto draft = run.find(kCast1);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 20, 3);
  EXPECT_EQ(draft->confidence, Confidence::kHigh);
  TestRun layout{run_of({good(), copy(kHalf, kHalf, 125, {"aten::clone"})})};
  EXPECT_FALSE(layout.find(kCast1));
}

TEST(Cast1, OfAutocastOnlyWeightsCount) {
  TestTrace t;
  double gpu = 100;
  for (int i = 0; i < 10; ++i) {
    const double at = 40.0 * i;
    Signature linear = arguments_of({.name = "aten::linear",
                                     .dims = {shape({512, 8192}), shape({4096, 8192})},
                                     .types = {kFloat, kFloat}});
    t.op("aten::linear", at, 38, linear);
    for (const double part : {1.0, 20.0}) {  // the activation, then the weight
      TestOp one = copy(kHalf, kFloat, 0, {});
      if (part < 2) one.dims = {shape({512, 8192}), shape({512, 8192}), shape({})};
      TestOp outer = one;
      outer.dims.erase(outer.dims.begin());
      outer.types = {kFloat, "Scalar"};
      t.op("aten::to", at + part, 12, arguments_of(outer));
      t.op("aten::copy_", at + part + 1, 10, arguments_of(one));
      t.launch("cudaLaunchKernel", at + part + 2, 4, {.name = "cast", .ts = gpu, .dur = 100});
      gpu += 100;
    }
  }
  add_step(t, 1, 0, gpu + 10);
  TestRun run{t.finish()};
  const auto draft = run.find(kCast1);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->edit.gpu().size(), 10U);
  EXPECT_NEAR(run.saving_percent(*draft), 50, 8);
}

TEST(Lay1, CopiesOfTheSameType) {
  TestRun run{run_of({good(), copy(kHalf, kHalf, 125, {"aten::contiguous", "aten::clone"})})};
  const auto draft = run.find(kLay1);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 20, 3);
  ASSERT_TRUE(draft->low);
  TestRun small{run_of({good(), copy(kHalf, kHalf, 5, {})})};
  EXPECT_FALSE(small.find(kLay1));
}

TEST(Lay1, ALittleAppendedToALargeTensor) {
  const auto joined = [](std::vector<Value> pieces) {
    return TestOp{.name = "aten::cat",
                  .dims = {Value::tuple(std::move(pieces)), shape({})},
                  .types = {"TensorList", "Scalar"},
                  .us = 500};
  };
  TestRun run{run_of({good(), joined({shape({64, 4095, 128}), shape({64, 1, 128})})})};
  const auto draft = run.find(kLay1);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 50, 3);
  EXPECT_THAT(draft->tries.front(), testing::HasSubstr("instead of torch.cat"));
  TestRun halves{run_of({good(), joined({shape({64, 2048, 128}), shape({64, 2048, 128})})})};
  EXPECT_FALSE(halves.find(kLay1));
  TestRun alone{run_of({good(), joined({shape({64, 2048, 128})})})};
  EXPECT_FALSE(alone.find(kLay1));
}

TEST(Soft1, ASoftmaxMadeOfItsParts) {
  const Value logits = shape({8192, 50304}), sums = shape({8192, 1});
  const std::vector<TestOp> parts = {
      {.name = "aten::exp", .dims = {logits}, .types = {kFloat}, .us = 770},
      {.name = "aten::sum",
       .dims = {logits, shape({})},
       .types = {kFloat, "ScalarList"},
       .us = 370},
      {.name = "aten::div", .dims = {logits, sums}, .types = {kFloat, kFloat}, .us = 1290},
      {.name = "aten::log", .dims = {logits}, .types = {kFloat}, .us = 770}};
  TestRun run{run_of(parts, 2)};
  const auto draft = run.find(kSoft1);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 60);
  TestRun none{run_of({parts[2], parts[3]}, 2)};
  EXPECT_FALSE(none.find(kSoft1));
}

TEST(Elem1, SlowElementwiseOps) {
  TestOp slow = good(2000);
  slow.name = "aten::exp";
  TestRun run{run_of({good(), slow})};
  const auto draft = run.find(kElem1);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->edit.gpu().size(), 10U);
  TestRun fine{run_of({good()})};
  EXPECT_FALSE(fine.find(kElem1));
}

TEST(Red1, SlowReductions) {
  const TestOp slow{.name = "aten::sum",
                    .dims = {shape({16384, 32768}), shape({})},
                    .types = {kHalf, "ScalarList"},
                    .us = 3000};
  TestRun run{run_of({good(), slow})};
  EXPECT_TRUE(run.find(kRed1));
  EXPECT_FALSE(run.find(kElem1));
}

TEST(Norm1, SlowNormalisations) {
  const auto norm = [](double us) {
    return TestOp{
        .name = "aten::native_layer_norm",
        .dims = {shape({16384, 32768}), shape({}), shape({32768}), shape({32768}), shape({})},
        .types = {kHalf, "ScalarList", kHalf, kHalf, "Scalar"},
        .us = us,
        .concrete = {"", "[32768]", "", "", "1e-05"}};
  };
  TestRun run{run_of({good(), norm(3000)})};
  EXPECT_TRUE(run.find(kNorm1));
  EXPECT_FALSE(run.find(kElem1));
  TestRun fine{run_of({good(), norm(600)})};
  EXPECT_FALSE(fine.find(kNorm1));
}

TEST(Tri1, SlowCompiledKernels) {
  const auto compiled = [](double us) {
    return TestOp{.name = "triton_poi_fused_mul_0",
                  .dims = {shape({16384, 32768}), shape({16384, 32768}), shape({})},
                  .types = {kHalf, kHalf, "Scalar"},
                  .us = us,
                  .concrete = {"", "", "536870912"}};
  };
  TestRun run{run_of({good(), compiled(4000)})};
  const auto draft = run.find(kTri1);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->confidence, Confidence::kLow);
  TestRun fine{run_of({good(), compiled(1000)})};
  EXPECT_FALSE(fine.find(kTri1));
}

TEST(Emb1, GathersAndSorts) {
  TestRun run{run_of({good(), {.name = "aten::index_select", .kernel = "gather", .us = 500}})};
  const auto draft = run.find(kEmb1);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 15, 3);  // three tenths of a half
  TestRun rare{run_of({good(), {.name = "aten::index_select", .kernel = "gather", .us = 10}})};
  EXPECT_FALSE(rare.find(kEmb1));
}

TEST(Unm1, OpsWithoutAModel) {
  TestRun run{run_of({good(), {.name = "mine::scan", .kernel = "scan_kernel", .us = 500}})};
  const auto draft = run.find(kUnm1);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 15, 3);
  EXPECT_EQ(draft->confidence, Confidence::kLow);
  TestRun fine{run_of({good()})};
  EXPECT_FALSE(fine.find(kUnm1));
}

TEST(Rocm, KernelsByName) {
  TestRun copies{run_of(
      {good(), {.name = "aten::empty", .kernel = "__amd_rocclr_copyBufferAligned", .us = 50}})};
  EXPECT_TRUE(copies.find(kRocm1));
  EXPECT_FALSE(copies.find(kRocm2));
  TestRun tuning{
      run_of({good(), {.name = "aten::conv", .kernel = "naive_conv_fwd_nchw", .us = 50}})};
  EXPECT_TRUE(tuning.find(kRocm2));
  EXPECT_FALSE(tuning.find(kRocm1));
}

TEST(Var1, CallsThatVary) {
  TestTrace t;
  double gpu = 100;
  for (int i = 0; i < 20; ++i) {
    t.op("aten::relu", 10.0 * i, 9, arguments_of(good()));
    const double us = i % 10 == 0 ? 5000 : 500;
    t.launch("cudaLaunchKernel", 10.0 * i + 2, 4, {.name = "relu", .ts = gpu, .dur = us});
    gpu += us;
  }
  add_step(t, 1, 0, gpu + 10);
  TestRun run{t.finish()};
  const auto draft = run.find(kVar1);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->edit.gpu().size(), 2U);
  TestRun steady{run_of({good()}, 20)};
  EXPECT_FALSE(steady.find(kVar1));
}

TEST(Fuse1, AChainInAModule) {
  const Value size = shape({64, 1024, 1024});
  std::vector<TestOp> ops;
  for (const char* name : {"aten::mul", "aten::pow", "aten::add", "aten::tanh", "aten::mul"})
    ops.push_back({.name = name, .dims = {size, size}, .types = {kHalf, kHalf}, .us = 100});
  TestRun run{run_of(ops, 4, "nn.Module: Gelu_0")};
  const auto draft = run.find(kFuse1);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 50);
  TestRun single{run_of({ops[0]}, 4, "nn.Module: Gelu_0")};
  EXPECT_FALSE(single.find(kFuse1));
}

TEST(Fuse2, AnActivationOfTheProductsResult) {
  const TestOp product{.name = "aten::mm",
                       .dims = {shape({4096, 1024}), shape({1024, 4096})},
                       .types = {kHalf, kHalf},
                       .kernel = "nvjet_tst_128x128"};
  const auto gelu = [](int rows) {
    return TestOp{.name = "aten::gelu", .dims = {shape({rows, 4096})}, .types = {kHalf}, .us = 50};
  };
  TestRun run{run_of({product, gelu(4096)}, 10, "nn.Module: Mlp_0")};
  const auto draft = run.find(kFuse2);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 33, 3);
  TestRun other{run_of({product, gelu(2048)}, 10, "nn.Module: Mlp_0")};
  EXPECT_FALSE(other.find(kFuse2));
  EXPECT_EQ(draft->where.size(), 1U);
  TestRun lines{run_of({product, gelu(4096)}, 10, "nn.Module: Mlp_0",
                       {"model.py(5): up", "model.py(9): down"})};
  EXPECT_EQ(lines.find(kFuse2)->where.size(), 2U);  // a class of modules may stand in many lines
}

}  // namespace
}  // namespace tracelens
