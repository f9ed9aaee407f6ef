// DATA-2 to DATA-5: copies between host and GPU.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kData2, kData3, kData4, kData5;

namespace {

struct CopyStyle {
  std::string_view name;  // of the GPU event
  int per_step = 1;
  std::int64_t bytes = 4 << 20;
  double us = 300;
  bool waits = true;
};

// Three steps of 20 ops; each begins with copies.
Trace run_with_copies(const CopyStyle& copy) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 3; ++step) {
    double at = start;
    for (int i = 0; i < copy.per_step; ++i) {
      const double length = copy.us + 30;
      t.python("train.py(7): load", at, length);
      t.python("<built-in method to of Tensor>", at + 0.5, length - 1);
      t.op("aten::to", at + 1, length - 2);
      t.op("aten::copy_", at + 2, length - 4);
      const auto launched = t.launch(
          "cudaMemcpyAsync", at + 3, copy.waits ? length - 10 : 4,
          {.name = copy.name, .ts = at + 10, .dur = copy.us, .category = Category::kGpuMemcpy});
      t.builder().set_details(launched.gpu,
                              t.builder().intern(fmt::format(R"({{"bytes":{}}})", copy.bytes)));
      if (copy.waits) t.runtime("cudaStreamSynchronize", at + length - 6, 2);
      at += length;
    }
    at = add_ops(t, at + 10, 20, 8);
    add_step(t, step, start, at);
    start = at;
  }
  return t.finish();
}

TEST(Data2, PageableCopiesHoldTheHost) {
  TestRun run{run_with_copies({.name = "Memcpy HtoD (Pageable -> Device)"})};
  const auto draft = run.find(kData2);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->evidence.front().value, 1);
  EXPECT_EQ(draft->where.front().python, "train.py(7): load");
  EXPECT_GT(run.saving_percent(*draft), 40);
}

TEST(Data2, PinnedOnesDoNot) {
  TestRun run{run_with_copies({.name = "Memcpy HtoD (Pinned -> Device)"})};
  EXPECT_FALSE(run.find(kData2));
}

TEST(Data3, CopiesThatNothingRunsBeside) {
  TestRun run{run_with_copies({.name = "Memcpy HtoD (Pinned -> Device)", .waits = false})};
  const auto draft = run.find(kData3);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(draft->evidence.front().value, 0.9, 0.01);
  TestRun none{run_with_copies({.name = "Memcpy DtoD (Device -> Device)", .waits = false})};
  EXPECT_FALSE(none.find(kData3));
}

// Both ways at the same time take the time of one, and only what nothing hides counts.
TEST(Data3, CopiesSideBySideAreOneTime) {
  TestTrace t;
  t.op("aten::copy_", 0, 20);
  const auto copy = [&t](std::string_view name, double called, int stream) {
    const auto launched = t.launch(
        "cudaMemcpyAsync", called, 4,
        {.name = name, .ts = 10, .dur = 200, .stream = stream, .category = Category::kGpuMemcpy});
    t.builder().set_details(launched.gpu, t.builder().intern(R"({"bytes":4000000})"));
  };
  copy("Memcpy HtoD (Pinned -> Device)", 2, 20);
  copy("Memcpy DtoH (Device -> Pinned)", 8, 21);
  t.op("aten::mm", 20, 20);
  t.launch("cudaLaunchKernel", 22, 4, {.name = "gemm", .ts = 110, .dur = 300});
  add_step(t, 0, 0, 500);
  TestRun run{t.finish()};
  const auto draft = run.find(kData3);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(draft->evidence[0].value, 0.1, 1e-9);  // ms
  EXPECT_NEAR(draft->evidence[1].value, 25, 0.5);    // % of about 400 us
  EXPECT_NEAR(draft->evidence[2].value, 4, 1e-9);    // MB: half of both
}

TEST(Data4, ManySmallCopies) {
  TestRun run{run_with_copies(
      {.name = "Memcpy HtoD (Pageable -> Device)", .per_step = 20, .bytes = 4, .us = 2})};
  const auto draft = run.find(kData4);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->evidence.front().value, 20);
  EXPECT_GT(run.saving_percent(*draft), 50);
  EXPECT_FALSE(run.find(kData2));  // they are counted once
}

TEST(Data5, TensorsForTheHost) {
  TestRun run{run_with_copies({.name = "Memcpy DtoH (Device -> Pageable)"})};
  const auto draft = run.find(kData5);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 40);
  TestRun small{run_with_copies({.name = "Memcpy DtoH (Device -> Pageable)", .bytes = 8})};
  EXPECT_FALSE(small.find(kData5));  // a read-back
}

TEST(Data5, ResultsThatAreFetchedAtTheEndAreNoLoop) {
  const auto run_with_copy = [](double copy_at) {
    TestTrace t;
    add_ops(t, 0, 20, 8);
    add_ops(t, 1000, 20, 8);
    t.op("aten::copy_", copy_at, 400);
    const auto launched = t.launch("cudaMemcpyAsync", copy_at + 1, 300,
                                   {.name = "Memcpy DtoH (Device -> Pageable)",
                                    .ts = copy_at + 10,
                                    .dur = 280,
                                    .category = Category::kGpuMemcpy});
    t.builder().set_details(launched.gpu, t.builder().intern(R"({"bytes":4194304})"));
    t.runtime("cudaStreamSynchronize", copy_at + 302, 5);
    return t.finish();
  };
  TestRun last{run_with_copy(1300)};
  EXPECT_FALSE(last.find(kData5));
  TestRun inside{run_with_copy(400)};
  EXPECT_TRUE(inside.find(kData5));
}

}  // namespace
}  // namespace tracelens
