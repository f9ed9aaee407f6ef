#include <gtest/gtest.h>

#include <algorithm>
#include <tracelens/critical_path.hpp>
#include <tracelens/error.hpp>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

// A step of an op of 20 us with a kernel of 100 us, which it waits for.
Trace one_step() {
  TestTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, 200);
  t.op("aten::mm", 0, 20);
  t.launch("cudaLaunchKernel", 5, 5, {.name = "sgemm_128", .ts = 20, .dur = 100});
  t.runtime("cudaDeviceSynchronize", 30, 95);
  return t.finish();
}

double then_us(const Trace& trace, const WhatIfOptions::Scale& scale) {
  return what_if(trace, {.scales = {scale}, .correct_overhead = false}).then_ms * 1000;
}

TEST(WhatIf, NamesAreOpsKernelsOrAllOfAKind) {
  const Trace trace = one_step();
  EXPECT_DOUBLE_EQ(then_us(trace, {"aten::mm", 0.5}), 75);
  EXPECT_DOUBLE_EQ(then_us(trace, {"sgemm", 0.5}), 75);
  EXPECT_DOUBLE_EQ(then_us(trace, {"gpu", 0.5}), 75);
  EXPECT_DOUBLE_EQ(then_us(trace, {"aten::mm", 2}), 225);  // slower is possible, too
  EXPECT_DOUBLE_EQ(then_us(trace, {"host", 0}), 120);
  EXPECT_THROW((void)then_us(trace, {"aten::conv2d", 0.5}), Error);
}

TEST(WhatIf, FactorsAboveOneMakeItSlower) {
  const Trace trace = one_step();
  EXPECT_DOUBLE_EQ(then_us(trace, {"gpu", 2}), 225);
  EXPECT_DOUBLE_EQ(then_us(trace, {"sgemm", 2}), 225);
  EXPECT_DOUBLE_EQ(then_us(trace, {"host", 2}), 130);  // the launch comes 5 us later
  EXPECT_DOUBLE_EQ(then_us(trace, {"ProfilerStep#1", 2}), 230);
  // 5 us before the call, 150 in it, 10 until the op ends, 10 until a wait for what is done by then
  EXPECT_DOUBLE_EQ(then_us(trace, {"cudaLaunchKernel", 30}), 175);
}

TEST(WhatIf, OfSeveralFactorsOneCounts) {
  const Trace trace = one_step();
  const auto both_us = [&](const WhatIfOptions::Scale& a, const WhatIfOptions::Scale& b) {
    return what_if(trace, {.scales = {a, b}, .correct_overhead = false}).then_ms * 1000;
  };
  EXPECT_DOUBLE_EQ(both_us({"gpu", 2}, {"host", 2}), 230);
  EXPECT_DOUBLE_EQ(both_us({"gpu", 2}, {"aten::mm", 3}), 325);
  EXPECT_DOUBLE_EQ(both_us({"gpu", 2}, {"aten::mm", 0.5}), 75);
  EXPECT_DOUBLE_EQ(both_us({"aten::mm", 0.5}, {"gpu", 2}), 75);
}

TEST(WhatIf, NamesThatAreNotThereTellOfThoseThatMayBeMeant) {
  TestTrace t;
  t.python("torch/utils/checkpoint.py(348): checkpoint", 0, 10);
  t.python("torch/utils/checkpoint.py(1154): unpack_hook", 10, 60);
  t.op("aten::mm", 20, 20);
  t.launch("cudaLaunchKernel", 25, 5, {.name = "sgemm_128", .ts = 40, .dur = 100});
  const Trace trace = t.finish();
  const auto complaint = [&](const std::string& name) -> std::string {
    try {
      (void)then_us(trace, {name, 0, true});
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_NE(complaint("torch.utils.checkpoint")
                .find("; functions of that module are \"torch/utils/checkpoint.py(1154): "
                      "unpack_hook\", \"torch/utils/checkpoint.py(348): checkpoint\""),
            std::string::npos)
      << complaint("torch.utils.checkpoint");
  EXPECT_NE(complaint("aten::nm").find("\"aten::nm\"; did you mean aten::mm?"), std::string::npos);
  EXPECT_TRUE(complaint("torch/utils/checkpoint.py(1154): unpack_hook").empty());
}

TEST(WhatIf, SaysHowLongAStepTookWithTheWorkThatWasLeftFromBefore) {
  TestTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 100, 200);
  t.op("aten::mm", 5, 20);
  t.launch("cudaLaunchKernel", 10, 5, {.name = "sgemm_128", .ts = 20, .dur = 200});
  t.op("aten::mm", 110, 20);
  t.launch("cudaLaunchKernel", 115, 5, {.name = "sgemm_128", .ts = 220, .dur = 50});
  t.runtime("cudaDeviceSynchronize", 140, 135);
  const auto assumptions = [](const Trace& trace) {
    return what_if(trace, {.scales = {{"gpu", 0.5}}, .correct_overhead = false}).assumptions;
  };
  constexpr std::string_view kSentence =
      "the GPU has nothing left to do from before: with that, a step took 0.200 ms";
  const auto with = assumptions(t.finish());
  EXPECT_NE(std::ranges::find(with, kSentence), with.end());
}

TEST(WhatIf, WhatIsGoneTakesNoHostTime) {
  const Trace trace = one_step();
  const WhatIfAnswer answer =
      what_if(trace, {.scales = {{"aten::mm", 0, true}}, .correct_overhead = false});
  EXPECT_DOUBLE_EQ(answer.recorded_ms * 1000, 125);
  EXPECT_DOUBLE_EQ(answer.then_ms * 1000, 20);  // launch latency 15, return of the call 5
  ASSERT_EQ(answer.edits.rows(), 2u);
  EXPECT_EQ(answer.edits.column("edit").texts()[1], "without aten::mm");
  EXPECT_FALSE(answer.assumptions.empty());
}

TEST(WhatIf, TracesWithoutLaunchesAreRefused) {
  const Trace trace = TestTrace{}.finish();
  EXPECT_THROW((void)what_if(trace, {.no_sync = true}), Error);
  EXPECT_THROW((void)find_critical_path(trace), Error);
}

TEST(CriticalPath, SaysWhatItIsBoundBy) {
  const CriticalPathAnswer answer = find_critical_path(one_step());
  ASSERT_EQ(answer.sentences.size(), 2u);
  EXPECT_NE(answer.sentences[0].find("80% computing on the GPU"), std::string::npos)
      << answer.sentences[0];
  EXPECT_EQ(answer.tables.size(), 2u);
}

// The first of four steps takes ten times as long as the others.
TEST(WhatIf, StepsThatWarmUpAreLeftOut) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 4; ++step) {
    const double length = step == 0 ? 2000 : 200;
    t.event(Category::kUserAnnotation, "ProfilerStep#" + std::to_string(step), start, length);
    t.op("aten::mm", start, length - 100);
    t.launch("cudaLaunchKernel", start + 5, 5,
             {.name = "sgemm", .ts = start + 20, .dur = length - 50});
    t.runtime("cudaDeviceSynchronize", start + length - 90, 65);
    start += length;
  }
  const Trace trace = t.finish();
  const WhatIfAnswer steady = what_if(trace, {.no_sync = true});
  EXPECT_EQ(steady.steps, 3u);
  EXPECT_LT(steady.recorded_ms, 0.3);
  EXPECT_EQ(what_if(trace, {.no_sync = true, .steps = "all"}).steps, 4u);
  EXPECT_EQ(what_if(trace, {.no_sync = true, .steps = "2"}).steps, 1u);
  EXPECT_THROW((void)what_if(trace, {.no_sync = true, .steps = "first"}), Error);
  const auto length_of = [&](std::string_view steps) {
    double sum = 0;
    const CriticalPathAnswer answer = find_critical_path(trace, steps);
    for (const double us : answer.tables[1].column("dur_us").reals()) sum += us;
    return sum;
  };
  EXPECT_LT(length_of("steady"), 700);
  EXPECT_GT(length_of("all"), 2000);
}

}  // namespace
}  // namespace tracelens
