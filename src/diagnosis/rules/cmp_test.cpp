#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kCmp1, kCmp2, kCmp3, kCmp4, kCmp5;

namespace {

// One step of products, each of an op that launches so many kernels.
Trace products(double gpu_us, int kernels = 1, bool has_more = false, double host_us = 10) {
  TestTrace t;
  double host = 0, gpu = 8;
  const auto op = [&](const char* name) {
    t.op(name, host, host_us);
    for (int k = 0; k < kernels; ++k) {
      gpu = std::max(gpu, host + 6);
      t.launch("cudaLaunchKernel", host + 1 + k, 1, {.name = "gemm", .ts = gpu, .dur = gpu_us});
      gpu += gpu_us;
    }
    host += host_us;
  };
  for (int i = 0; i < 20; ++i) op("aten::mm");
  if (has_more)
    for (int i = 0; i < 5; ++i) op("aten::sort");
  add_step(t, 1, 0, std::max(host, gpu));
  return t.finish();
}

TEST(Compare, TheSameProductsAreSlowerHere) {
  const Trace other = products(50);
  TestRun run{products(100), {.against = &other}};
  const auto draft = run.find(kCmp1);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 50, 5);
  EXPECT_TRUE(run.find(kCmp5));
  EXPECT_FALSE(run.find(kCmp2));
  EXPECT_FALSE(run.find(kCmp4));
}

TEST(Compare, TheOtherRunIsNeverCriticised) {
  const Trace other = products(100);
  TestRun run{products(50), {.against = &other}};
  for (const Rule* rule : {&kCmp1, &kCmp2, &kCmp3, &kCmp4, &kCmp5})
    EXPECT_FALSE(run.find(*rule)) << rule->id;
}

TEST(Compare, EqualRunsHaveNoFinding) {
  const Trace other = products(50);
  TestRun run{products(50), {.against = &other}};
  for (const Rule* rule : {&kCmp1, &kCmp2, &kCmp3, &kCmp4, &kCmp5})
    EXPECT_FALSE(run.find(*rule)) << rule->id;
}

// One step of blocks, each of so many ops of a kernel.
Trace blocks(const char* op, int ops) {
  TestTrace t;
  double host = 0, gpu = 8;
  for (int i = 0; i < 20; ++i) {
    t.op("block", host, 20);
    for (int k = 0; k < ops; ++k) {
      t.op(op, host + 1 + 4 * k, 3);
      gpu = std::max(gpu, host + 6 + 4 * k);
      t.launch("cudaLaunchKernel", host + 2 + 4 * k, 1, {.name = op, .ts = gpu, .dur = 50});
      gpu += 50;
    }
    host += 20;
  }
  add_step(t, 1, 0, gpu);
  return t.finish();
}

TEST(Compare, TheOtherRunNeedsFewerKernels) {
  const Trace other = blocks("aten::fused", 1);
  TestRun run{blocks("aten::mul", 4), {.against = &other}};
  const auto draft = run.find(kCmp2);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 75, 5);
  EXPECT_EQ(draft->where.front().name, "block");
}

TEST(Compare, WorkOfThisRunAlone) {
  const Trace other = products(50);
  TestRun run{products(50, 1, true), {.against = &other}};
  const auto draft = run.find(kCmp4);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->where.front().name, "aten::sort");
  EXPECT_EQ(draft->edit.gpu().size(), 5u);
}

TEST(Compare, TheHostTakesLongerHere) {
  const Trace other = products(5, 1, false, 10);
  TestRun run{products(5, 1, false, 100), {.against = &other}};
  const auto draft = run.find(kCmp3);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 50);
}

}  // namespace
}  // namespace tracelens
