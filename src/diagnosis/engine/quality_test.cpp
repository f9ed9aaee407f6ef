#include "diagnosis/engine/quality.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {
namespace {

using ::testing::Contains;
using ::testing::Not;

std::vector<std::string> notes(Trace trace, DiagnoseOptions options = {.gpu = {.name = "H200"}}) {
  TestRun run{std::move(trace), std::move(options)};
  std::vector<std::string> ids;
  for (const QualityNote& note : quality_notes(run.context())) ids.push_back(note.id);
  return ids;
}

// Three steps of 30 ops with their modules; the GPU is busy for 12 ms in each.
TestTrace steady_steps() {
  TestTrace t;
  for (int step = 0; step < 3; ++step) {
    const double start = 13000.0 * step;
    t.python("nn.Module: Net_0", start, 400);
    add_ops(t, start, 30, 400);
    add_step(t, step, start, start + 13000);
  }
  return t;
}

TEST(Quality, OfASteadyRunThereIsLittleToSay) {
  const auto ids = notes(steady_steps().finish());
  for (const char* id : {"TQ-1", "TQ-2", "TQ-3", "TQ-4", "TQ-6", "TQ-7", "TQ-8", "TQ-9", "TQ-11",
                         "TQ-12", "TQ-13", "TQ-14", "TQ-15"})
    EXPECT_THAT(ids, Not(Contains(id)));
}

TEST(Quality, ShortTracesWithoutStepsStacksShapesModelsAndPeaks) {
  TestTrace t;
  add_ops(t, 0, 30, 2);
  const auto ids = notes(t.finish(), {});
  for (const char* id : {"TQ-1", "TQ-2", "TQ-5", "TQ-6", "TQ-10", "TQ-15", "TQ-16"})
    EXPECT_THAT(ids, Contains(id));
}

TEST(Quality, ASlowFirstStepIsLeftOut) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 4; ++step) {
    const double end = add_ops(t, start, 30, 2) + (step == 0 ? 5000 : 0);
    add_step(t, step, start, end);
    start = end;
  }
  EXPECT_THAT(notes(t.finish()), Contains("TQ-3"));
}

TEST(Quality, WorkThatWasLaunchedBefore) {
  TestTrace t = steady_steps();
  t.gpu({.ts = 39000, .dur = 5000});
  EXPECT_THAT(notes(t.finish()), Contains("TQ-4"));
}

// What a small part of the work does says nothing of the rest, which the tables count, too: no path, and all
// work counts. Tables of PyTorch traces are about the linked part.
TEST(Quality, WorkThatIsMostlyUnlinked) {
  const auto mostly_unlinked = [](Recorder recorder) {
    TestTrace t;
    t.builder().source().recorder = recorder;
    add_ops(t, 0, 30, 2);
    t.gpu({.ts = 1000, .dur = 5000});
    t.gpu({.ts = 8000, .dur = 3000});
    return t.finish();
  };
  TestRun run{mostly_unlinked(Recorder::kNsight)};
  EXPECT_FALSE(run.context().path().usable());
  EXPECT_GE(run.context().busy_ns(), 8'000'000);
  EXPECT_GE(run.context().length_ns(), 10'900'000);
  std::vector<std::string> ids;
  for (const QualityNote& note : quality_notes(run.context())) ids.push_back(note.id);
  EXPECT_THAT(ids, Contains("TQ-4"));
  EXPECT_THAT(ids, Contains("TQ-11"));
  TestRun linked{mostly_unlinked(Recorder::kPyTorch)};
  EXPECT_TRUE(linked.context().path().usable());
  EXPECT_LT(linked.context().busy_ns(), 100'000);
}

TEST(Quality, StreamsWhoseWaitsAreNotRecorded) {
  TestTrace t = steady_steps();
  t.launch("cudaLaunchKernel", 500, 4, {.ts = 600, .dur = 5, .stream = 8});
  EXPECT_THAT(notes(t.finish()), Contains("TQ-7"));
}

// Three steps with two graphs each; of one launch `last` kernels were recorded.
Trace graph_steps(int last) {
  TestTrace t;
  std::int64_t correlation = 1;
  for (int i = 0; i < 6; ++i, ++correlation) {
    const double at = 100.0 * i;
    t.runtime("cudaGraphLaunch", at, 5, correlation);
    const int kernels = i == 5 ? last : (i % 2 == 0 ? 4 : 40);
    for (int k = 0; k < kernels; ++k) t.gpu({.ts = at + 6 + k, .dur = 0.8}, correlation);
    if (i % 2 == 1) add_step(t, i / 2, at - 100, at + 100);
  }
  return t.finish();
}

TEST(Quality, GraphsWithoutTheirKernels) {
  EXPECT_THAT(notes(graph_steps(40)), Not(Contains("TQ-8")));
  EXPECT_THAT(notes(graph_steps(30)), Not(Contains("TQ-8")));
  EXPECT_THAT(notes(graph_steps(0)), Contains("TQ-8"));
  EXPECT_THAT(notes(graph_steps(10)), Contains("TQ-8"));
}

TEST(Quality, OpsFasterThanTheRoof) {
  const TestOp impossible{
      .name = "aten::neg", .dims = {shape({16384, 32768})}, .types = {"c10::BFloat16"}, .us = 10};
  EXPECT_THAT(notes(run_of({impossible})), Contains("TQ-9"));
}

TEST(Quality, ClocksThatDisagree) {
  TestTrace t;
  for (int i = 0; i < 100; ++i) {  // every tenth kernel starts before its launch
    const double at = 100.0 * i;
    t.op("aten::mul", at, 10);
    t.launch("cudaLaunchKernel", at + 2, 4, {.ts = i % 10 == 0 ? at : at + 8, .dur = 5});
  }
  EXPECT_THAT(notes(t.finish()), Contains("TQ-11"));
}

TEST(Quality, TheProfilersOwnTime) {
  TestTrace t = steady_steps();
  t.event(Category::kOverhead, "Buffer Flush", 1000, 3000, 99);
  EXPECT_THAT(notes(t.finish()), Contains("TQ-12"));
}

TEST(Quality, GpusThatWorkForDifferentTimes) {
  TestTrace t = steady_steps();
  t.launch("cudaLaunchKernel", 500, 4, {.ts = 600, .dur = 5000, .device = 1});
  EXPECT_THAT(notes(t.finish()), Contains("TQ-13"));
}

TEST(Quality, LostAllocations) {
  TestTrace t = steady_steps();
  for (const std::int64_t total :
       {100, 300}) {  // the second says 100 bytes more than the first had
    const EventId event = t.builder().append({.phase = Phase::kInstant,
                                              .category = Category::kCpuInstant,
                                              .name = t.builder().intern("[memory]"),
                                              .track = t.builder().intern(Track{100, 1}),
                                              .ts_ns = total * 1000});
    t.builder().set_memory_change(event, {.address = total,
                                          .bytes = 100,
                                          .allocated = total,
                                          .reserved = 1000,
                                          .order = static_cast<std::int32_t>(total),
                                          .device_type = 1,
                                          .device = 0});
  }
  EXPECT_THAT(notes(t.finish()), Contains("TQ-14"));
}

TEST(Quality, JaxHasNoModelsToMissAndNoLaunchesOfPyTorch) {
  TestTrace t;
  t.builder().source().recorder = Recorder::kJax;
  for (int i = 0; i < 30; ++i) t.gpu({.name = "fusion", .ts = 100.0 * i, .dur = 50});
  t.launch("cuLaunchKernel", 1, 1, {.name = "fusion", .ts = 5000, .dur = 50});
  TestRun run{t.finish()};
  for (const QualityNote& note : quality_notes(run.context())) {
    EXPECT_NE(note.id, "TQ-10");
    if (note.id == "TQ-4") {
      EXPECT_THAT(note.text, testing::HasSubstr("host_tracer_level"));
    }
  }
}

TEST(Quality, TheOtherRunIsOfAnotherProgram) {
  const Trace same = steady_steps().finish();
  TestTrace convolutions;
  add_step(convolutions, 1, 0, add_ops(convolutions, 0, 30, 200, "aten::convolution", "conv"));
  const Trace other = convolutions.finish();
  EXPECT_THAT(notes(steady_steps().finish(), {.against = &same}), Not(Contains("TQ-17")));
  EXPECT_THAT(notes(steady_steps().finish(), {.against = &other}), Contains("TQ-17"));
}

}  // namespace
}  // namespace tracelens
