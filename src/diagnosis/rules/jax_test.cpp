#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kJax1, kJax2, kJax3;

namespace {

using ::testing::HasSubstr;

// Twenty kernels of 10 us, each launched `latency` before its start.
Trace jax_run(std::string_view kernel, double every_us, double latency = 5) {
  TestTrace t;
  t.builder().source().recorder = Recorder::kJax;
  for (int i = 0; i < 20; ++i) {
    const double at = 1000 + every_us * i;
    t.launch("cuLaunchKernel", at - latency, 2, {.name = kernel, .ts = at, .dur = 10});
  }
  return t.finish();
}

TEST(Jax1, TheGpuIdlesAndKernelsStartAtOnce) {
  TestRun run{jax_run("loop_add_fusion", 30)};
  const auto draft = run.find(kJax1);
  ASSERT_TRUE(draft);
  EXPECT_THAT(draft->verdict, HasSubstr("5 us after their launch"));
  EXPECT_GT(draft->idle_ns, 0);
  TestRun busy{jax_run("loop_add_fusion", 11)};
  EXPECT_FALSE(busy.find(kJax1));
  TestRun queued{jax_run("loop_add_fusion", 30, 100)};
  EXPECT_FALSE(queued.find(kJax1));
}

TEST(Jax2, CopiesAndTransposesOfTheirOwn) {
  TestRun run{jax_run("wrapped_transpose", 10)};
  const auto draft = run.find(kJax2);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->edit.gpu().size(), 20U);
  TestRun fused{jax_run("transpose_multiply_fusion", 10)};
  EXPECT_FALSE(fused.find(kJax2));
}

TEST(Jax3, CopiesThatNothingHides) {
  const auto copies = [](double start) {
    TestTrace t;
    t.builder().source().recorder = Recorder::kJax;
    t.launch("cuLaunchKernel", 0, 2, {.name = "gemm", .ts = 10, .dur = 200});
    t.launch("cuMemcpyAsync", 4, 2,
             {.name = "MemcpyH2D",
              .ts = start,
              .dur = 100,
              .stream = 8,
              .category = Category::kGpuMemcpy});
    return t.finish();
  };
  TestRun run{copies(160)};  // half of it after the product
  const auto draft = run.find(kJax3);
  ASSERT_TRUE(draft);
  EXPECT_THAT(draft->verdict, HasSubstr("for 0.05 ms"));
  TestRun hidden{copies(50)};
  EXPECT_FALSE(hidden.find(kJax3));
}

TEST(JaxRules, AreSilentAboutOtherTraces) {
  TestTrace t;
  add_ops(t, 0, 30, 2, "aten::copy_", "copy");
  TestRun run{t.finish()};
  for (const Rule* rule : {&kJax1, &kJax2, &kJax3}) EXPECT_FALSE(run.find(*rule)) << rule->id;
}

// Four GPUs do the same work at the same time.
TEST(JaxRules, GpusSideBySideAreNoMoreThanAllOfTheTime) {
  TestTrace t;
  t.builder().source().recorder = Recorder::kJax;
  for (int i = 0; i < 20; ++i)
    for (int device = 1; device <= 4; ++device)
      t.launch("cuLaunchKernel", 1000 + 10 * i - 5, 1,
               {.name = "wrapped_transpose", .ts = 1000.0 + 10 * i, .dur = 9, .device = device});
  const Trace trace = t.finish();
  const Diagnosis diagnosis = diagnose(trace);
  EXPECT_EQ(diagnosis.devices, 4);
  ASSERT_FALSE(diagnosis.findings.empty());
  for (const Finding& finding : diagnosis.findings) {
    EXPECT_LE(finding.saving_percent, 100) << finding.id;
    for (const Evidence& row : finding.evidence) {
      if (row.unit == "%") {
        EXPECT_LE(row.value, 100) << finding.id << " " << row.column;
      }
    }
  }
}

}  // namespace
}  // namespace tracelens
