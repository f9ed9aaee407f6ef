// HOST-2 to HOST-6, SYNC-3, MEM-3: what the host does instead of launching.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kHost2, kHost3, kHost4, kHost5, kHost6, kMem3, kSync3;

namespace {

// Three steps of 30 ops; `more` adds something in the middle and says when it ends.
Trace run_with(const std::function<double(TestTrace&, double)>& more, double gpu_us = 2) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 3; ++step) {
    double at = add_ops(t, start, 15, gpu_us);
    at = add_ops(t, more(t, at), 15, gpu_us);
    add_step(t, step, start, at + 200);
    start = at + 200;
  }
  return t.finish();
}

double nothing(TestTrace&, double at) { return at; }

TEST(Host6, AnOpOnTheCpu) {
  TestRun run{run_with([](TestTrace& t, double at) {
    t.python("train.py(12): batch", at, 902);
    t.op("aten::sort", at + 1, 900);
    return at + 902;
  })};
  const auto draft = run.find(kHost6);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->where.front().name, "aten::sort");
  EXPECT_EQ(draft->where.front().python, "train.py(12): batch");
  EXPECT_GT(run.saving_percent(*draft), 50);
}

TEST(Host6, PythonOfTheUserButNotOfTheFramework) {
  const auto in_frame = [](std::string_view frame) {
    return run_with([frame](TestTrace& t, double at) {
      t.python(frame, at, 900);
      return at + 900;
    });
  };
  TestRun own{in_frame("train.py(12): count_words")};
  const auto draft = own.find(kHost6);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->where.front().name, "count_words");
  EXPECT_EQ(draft->where.front().python, "train.py(12): count_words");
  TestRun framework{in_frame("torch/optim/adam.py(139): _init_group")};
  EXPECT_FALSE(framework.find(kHost6));
  TestRun plain{run_with(nothing)};
  EXPECT_FALSE(plain.find(kHost6));
}

TEST(Sync3, TimersWaitForTheDevice) {
  const auto wait = [](TestTrace& t, double at) {
    t.python("torch/cuda/__init__.py(1): synchronize", at, 60);
    t.runtime("cudaDeviceSynchronize", at + 2, 50);
    return at + 60;
  };
  TestRun run{run_with(wait)};
  const auto draft = run.find(kSync3);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->evidence.front().value, 1);
  TestRun none{run_with(nothing)};
  EXPECT_FALSE(none.find(kSync3));
}

TEST(Mem3, TheCacheIsEmptied) {
  const auto empty = [](TestTrace& t, double at) {
    t.python("torch/cuda/memory.py(1): empty_cache", at, 400);
    t.runtime("cudaFree", at + 10, 150);
    t.runtime("cudaFree", at + 200, 150);
    t.runtime("cudaMalloc", at + 420, 100);
    return at + 530;
  };
  TestRun run{run_with(empty)};
  const auto draft = run.find(kMem3);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->evidence.front().value, 3);
  EXPECT_THAT(draft->tries.front(), testing::HasSubstr("empty_cache"));
  EXPECT_GT(run.saving_percent(*draft), 25);
  TestRun none{run_with(nothing)};
  EXPECT_FALSE(none.find(kMem3));
}

TEST(Host4, ALaunchThatLoadsItsKernel) {
  const auto load = [](TestTrace& t, double at) {
    t.op("aten::mm", at, 3010);
    t.launch("cudaLaunchKernel", at + 2, 3000, {.name = "gemm", .ts = at + 3005, .dur = 2});
    return at + 3010;
  };
  TestRun run{run_with(load)};
  const auto draft = run.find(kHost4);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->where.size(), 3U);
  TestRun none{run_with(nothing)};
  EXPECT_FALSE(none.find(kHost4));
}

TEST(Host3, PiecesThatAreJoinedAfterwards) {
  const auto loop = [](std::string_view after) {
    return run_with([after](TestTrace& t, double at) {
      at = add_ops(t, at, 32, 2, "aten::linear", "small_gemm");
      return add_ops(t, at, 1, 2, after, "cat_kernel");
    });
  };
  TestRun run{loop("aten::cat")};
  const auto draft = run.find(kHost3);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->evidence.front().value, 32);
  EXPECT_GT(run.saving_percent(*draft), 20);
  TestRun layers{loop("aten::relu")};  // each may need the one before
  EXPECT_FALSE(layers.find(kHost3));
}

TEST(Host3, OneTensorAfterTheOther) {
  const auto loop = [](std::string_view op, bool in_optimizer) {
    return run_with([=](TestTrace& t, double at) {
      const double end = add_ops(t, at, 64, 2, op, "elementwise");
      if (in_optimizer) t.event(Category::kUserAnnotation, "Optimizer.step#SGD.step", at, end - at);
      return end;
    });
  };
  TestRun run{loop("aten::lerp_", false)};
  const auto draft = run.find(kHost3);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 20);
  EXPECT_THAT(draft->tries.front(), testing::HasSubstr("torch._foreach_lerp_"));
  TestRun optimizer{loop("aten::lerp_", true)};  // OPT-1 tells that
  EXPECT_FALSE(optimizer.find(kHost3));
  TestRun layers{loop("aten::relu", false)};
  EXPECT_FALSE(layers.find(kHost3));
}

TEST(Host2, PausesOnAGpuThatIsFed) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 2; ++step) {
    double gpu = start + 20, host = start;
    for (int i = 0; i < 250; ++i) {
      t.launch("cudaLaunchKernel", host, 1, {.ts = gpu, .dur = 8});
      host += 1.5;
      gpu += 10;
    }
    add_step(t, step, start, gpu);
    start = gpu;
  }
  TestRun run{t.finish()};
  EXPECT_TRUE(run.find(kHost2));
  TestRun few{run_with(nothing)};
  EXPECT_FALSE(few.find(kHost2));
}

TEST(Host5, NotWithAShortQueue) {
  TestRun run{run_with(nothing)};
  EXPECT_FALSE(run.find(kHost5));
}

// Two bursts of ops that no step marks, and what `add` puts beside them.
template <class Add>
Trace two_bursts_and(const Add& add) {
  TestTrace t;
  add(t);
  add_ops(t, 1000, 30, 2);
  add_ops(t, 3000, 30, 2);
  return t.finish();
}

TEST(Host6, WhatPreparesARunWithoutStepsIsNoneOfIt) {
  const auto work_at = [](double us) {
    return two_bursts_and([us](TestTrace& t) { t.python("train.py(3): prepare", us, 900); });
  };
  TestRun before{work_at(50)};
  EXPECT_FALSE(before.find(kHost6));
  TestRun between{work_at(1700)};
  EXPECT_TRUE(between.find(kHost6));
}

TEST(Mem3, WithoutStepsTheFirstHalfIsPreparation) {
  const auto malloc_at = [](double us) {
    return two_bursts_and([us](TestTrace& t) { t.runtime("cudaMalloc", us, 300); });
  };
  TestRun before{malloc_at(100)};
  EXPECT_FALSE(before.find(kMem3));
  TestRun later{malloc_at(2500)};
  EXPECT_TRUE(later.find(kMem3));
}

}  // namespace
}  // namespace tracelens
