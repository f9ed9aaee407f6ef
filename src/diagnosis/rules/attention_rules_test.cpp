#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kAttn1, kAttn2, kAttn3, kAttn4;

namespace {

constexpr const char* kHalf = "c10::BFloat16";

std::vector<TestOp> by_parts() {
  return {
      {.name = "aten::bmm",
       .dims = {shape({64, 2048, 64}), shape({64, 64, 2048})},
       .types = {kHalf, kHalf},
       .kernel = "nvjet_qk",
       .us = 400},
      {.name = "aten::mul", .dims = {shape({64, 2048, 2048})}, .types = {kHalf}, .us = 400},
      {.name = "aten::_softmax", .dims = {shape({4, 16, 2048, 2048})}, .types = {kHalf}, .us = 700},
      {.name = "aten::bmm",
       .dims = {shape({64, 2048, 2048}), shape({64, 2048, 64})},
       .types = {kHalf, kHalf},
       .kernel = "nvjet_pv",
       .us = 400}};
}

TEST(Attn1, ProductsAroundASoftmaxBecomeOneKernel) {
  TestRun run{run_of(by_parts())};
  const auto draft = run.find(kAttn1);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 60);
  EXPECT_EQ(draft->edit.gpu().size(), 40U);
}

TEST(Attn1, NotForOtherSizes) {
  std::vector<TestOp> ops = by_parts();
  ops.back().dims = {shape({64, 2048, 1024}), shape({64, 1024, 64})};
  TestRun run{run_of(ops)};
  EXPECT_FALSE(run.find(kAttn1));
}

TEST(Attn1, NotForASoftmaxAlone) {
  TestRun run{run_of({by_parts()[2]})};
  EXPECT_FALSE(run.find(kAttn1));
}

std::vector<TestOp> fused(double us) {
  const Value queries = shape({4, 16, 2048, 64});
  return {{.name = "aten::_scaled_dot_product_flash_attention",
           .dims = {queries, queries, queries, shape({}), shape({}), shape({}), shape({})},
           .types = {kHalf, kHalf, kHalf, "Scalar", "Scalar", "Scalar", ""},
           .kernel = "flash_fwd_kernel",
           .us = us}};
}

TEST(Attn2, SlowFusedAttention) {
  TestRun slow{run_of(fused(2000))};
  const auto draft = slow.find(kAttn2);
  ASSERT_TRUE(draft);
  EXPECT_GT(slow.saving_percent(*draft), 50);
  TestRun fast{run_of(fused(150))};
  EXPECT_FALSE(fast.find(kAttn2));
}

TEST(Attn2, ASquareMaskMayBeCausal) {
  std::vector<TestOp> ops = fused(150);  // fast enough
  ops.front().dims.push_back(shape({2048, 2048}));
  ops.front().types.push_back("bool");
  TestRun masked{run_of(ops)};
  const auto draft = masked.find(kAttn2);
  ASSERT_TRUE(draft);
  EXPECT_THAT(draft->tries.front(), testing::HasSubstr("is_causal=True"));
  ops.front().dims.back() = shape({1, 2048});  // of padding
  TestRun padded{run_of(ops)};
  EXPECT_FALSE(padded.find(kAttn2));
}

TEST(Attn3, CopiesBesideIt) {
  std::vector<TestOp> ops = fused(200);
  ops.push_back({.name = "aten::copy_",
                 .dims = {shape({4, 2048, 16, 64}), shape({4, 2048, 16, 64})},
                 .types = {kHalf, kHalf},
                 .us = 50});
  TestRun run{run_of(ops)};
  const auto draft = run.find(kAttn3);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 20, 3);
  ops.back().dims = {shape({8, 8}), shape({8, 8})};
  TestRun other{run_of(ops)};
  EXPECT_FALSE(other.find(kAttn3));
}

TEST(Attn4, WritesOfTheCache) {
  std::vector<TestOp> ops = fused(200);
  ops.push_back({.name = "vllm::cache", .kernel = "reshape_and_cache_flash_kernel", .us = 50});
  TestRun run{run_of(ops)};
  const auto draft = run.find(kAttn4);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 10, 2);
  ops.back().us = 5;
  TestRun few{run_of(ops)};
  EXPECT_FALSE(few.find(kAttn4));
}

}  // namespace
}  // namespace tracelens
