#include "analysis/host/syncs.hpp"

#include <gtest/gtest.h>

#include "analysis/host/user_frames.hpp"
#include "analysis/kit/test_ops.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(SyncCalls, AReadBackIsNamedByItsLineAndTheOpThatWouldGo) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 100});
  t.python("train.py(7): step", 8, 300);
  t.python("nn.Module: Loss_0", 9, 200);
  t.python("torch/tensor.py(1): item", 9.5, 190);
  t.python("<built-in method item of Tensor object>", 10, 150);
  const EventId item = t.op("aten::item", 11, 140);
  t.op("aten::_local_scalar_dense", 12, 138);
  const auto copy = t.launch("cudaMemcpyAsync", 14, 4,
                             {.name = "Memcpy DtoH (Device -> Pinned)",
                              .ts = 106,
                              .dur = 2,
                              .category = Category::kGpuMemcpy});
  t.builder().set_details(copy.gpu, t.builder().intern(R"({"bytes":4})"));
  const EventId wait = t.runtime("cudaStreamSynchronize", 20, 90);
  t.launch("cudaLaunchKernel", 250, 1, {.ts = 260, .dur = 1});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const SyncCalls syncs = sync_calls_of(work, gpu_gaps_of(work, -1));
  ASSERT_EQ(syncs.calls.size(), 1u);
  const SyncCall& sync = syncs.calls[0];
  EXPECT_EQ(sync.call, wait);
  EXPECT_EQ(sync.waited_for, copy.gpu);
  EXPECT_EQ(sync.waited_ns, 88'000);
  EXPECT_TRUE(sync.drained);
  EXPECT_EQ(sync.idle_after_ns, 152'000);
  EXPECT_TRUE(sync.round_trip);
  EXPECT_EQ(sync.range, item);
  EXPECT_EQ(sync.copy, copy.gpu);
  EXPECT_EQ(sync.bytes, 4);
  const Table table = sync_calls(work, syncs);
  EXPECT_EQ(cell(table, "python", 0), "train.py(7): step");
  EXPECT_EQ(cell(table, "module", 0), "nn.Module: Loss_0");
  EXPECT_EQ(cell(table, "direction", 0), "Memcpy DtoH");
  EXPECT_EQ(cell(table, "op", 0), "aten::_local_scalar_dense");
}

TEST(SyncCalls, ACopyFromPageableMemoryWaitsAndSharesTheRangeWithItsSynchronize) {
  TestTrace t;
  for (int i = 0; i < 2; ++i) {
    t.op("aten::to", 100 * i, 50);
    t.op("aten::copy_", 100 * i + 5, 40);
    t.launch("cudaMemcpyAsync", 100 * i + 10, 10,
             {.name = "Memcpy HtoD (Pageable -> Device)",
              .ts = 100.0 * i + 12,
              .dur = 5,
              .category = Category::kGpuMemcpy});
    t.runtime("cudaStreamSynchronize", 100 * i + 25, 5);
  }
  t.runtime("cudaEventQuery", 300, 5);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const SyncCalls syncs = sync_calls_of(work, gpu_gaps_of(work, -1));
  ASSERT_EQ(syncs.groups.size(), 2u);
  EXPECT_EQ(trace.text(syncs.groups[0].call), "cudaMemcpyAsync");
  EXPECT_EQ(syncs.groups[0].calls.size(), 2u);
  EXPECT_EQ(syncs.groups[0].waited_ns, 14'000);
  EXPECT_EQ(syncs.groups[1].waited_ns, 0);  // the copies were done
  EXPECT_EQ(syncs.groups[0].ranges, 2);
  EXPECT_EQ(syncs.calls[0].range, syncs.calls[1].range);
  EXPECT_EQ(trace.name(syncs.calls[0].range), "aten::to");
  const Table table = sync_summary(work, syncs);
  EXPECT_EQ(column(table, "direction"), (std::vector<std::string>{"Memcpy HtoD", "Memcpy HtoD"}));
}

TEST(SyncCalls, WorkLaunchedDuringTheWaitIsNotWhatItWaitedFor) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 20});
  t.runtime("cudaStreamSynchronize", 10, 40);
  t.launch("cudaLaunchKernel", 15, 1, {.ts = 26, .dur = 10, .stream = 8}, 2);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  EXPECT_EQ(sync_calls_of(work, gpu_gaps_of(work, -1)).calls[0].waited_ns, 15'000);
}

TEST(SyncCalls, WorkWhoseLaunchIsNotInTheTraceWasLaunchedBefore) {
  TestTrace t;
  t.gpu({.ts = 5, .dur = 25}, 4711);
  t.runtime("cudaDeviceSynchronize", 10, 21);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  EXPECT_EQ(sync_calls_of(work, gpu_gaps_of(work, -1)).calls[0].waited_ns, 20'000);
}

TEST(SyncCalls, TimeInWhichTwoGpusAreIdleCountsOnce) {
  TestTrace t;
  for (const int device : {0, 1})
    t.launch("cudaLaunchKernel", 10.0 + 20 * device, 5, {.ts = 100, .dur = 100, .device = device});
  t.runtime("cudaDeviceSynchronize", 90, 120);
  for (const int device : {0, 1})
    t.launch("cudaLaunchKernel", 300.0 + 20 * device, 5, {.ts = 400, .dur = 9, .device = device});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const GpuGaps gaps = gpu_gaps_of(work, -1);
  EXPECT_EQ(gaps.drained.size(), 2u);
  EXPECT_EQ(sync_calls_of(work, gaps).calls[0].idle_after_ns, 200'000);
}

TEST(HostSteps, AfterAMarkInsideAnotherTheOuterOneIsOpen) {
  TestTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, 100);
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 10, 40, 2);
  t.launch("cudaLaunchKernel", 60, 2, {.ts = 70, .dur = 10});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  ASSERT_EQ(work.steps().size(), 2u);
  EXPECT_EQ(work.step_at(20'000), 1u);
  EXPECT_EQ(work.step_at(60'000), 0u);
  EXPECT_EQ(work.step_at(100'000), 0u);  // ends then
  EXPECT_EQ(work.step_at(100'001), 2u);
}

TEST(UserFrames, AreNeitherBuiltInNorTheFrameworks) {
  EXPECT_TRUE(is_user_frame("train.py(7): step"));
  EXPECT_TRUE(is_user_frame("/home/me/pytorch/model.py(7): step"));
  EXPECT_FALSE(is_user_frame("torch/nn/modules/module.py(1): _call_impl"));
  EXPECT_FALSE(is_user_frame("/usr/lib/python3/dist-packages/torch/tensor.py(1): item"));
  EXPECT_FALSE(is_user_frame("<built-in method item of Tensor object at 0x7f01>"));
  EXPECT_FALSE(is_user_frame("nn.Module: Linear_0"));
}

}  // namespace
}  // namespace tracelens
