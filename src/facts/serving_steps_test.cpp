#include "facts/serving_steps.hpp"

#include <gtest/gtest.h>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(ServingSteps, TheFirstStepAroundAnEventIsItsStep) {
  const std::string prefill = "prefill[bs=1 tok=8 sqsq=64 sqsk=64 sk=8]",
                    decode = "decode[bs=1 tok=1 sqsq=1 sqsk=9 sk=9]";
  TestTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, 1000);
  t.event(Category::kUserAnnotation, decode, 200, 100);
  t.event(Category::kUserAnnotation, prefill, 10, 100, 2);
  const EventId early = t.op("a", 5, 50), first = t.op("a", 10, 50),
                ends_with_it = t.op("a", 60, 50), second = t.op("a", 200, 50),
                late = t.op("a", 290, 20);
  const Trace trace = t.finish();
  const ServingSteps steps{trace};
  const auto name = [&](EventId event) {
    const ServingStep* step = steps.around(trace, event);
    return step ? trace.text(step->name) : "none";
  };
  EXPECT_EQ(name(early), "none");
  EXPECT_EQ(name(first), prefill);
  EXPECT_EQ(name(ends_with_it), "none");
  EXPECT_EQ(name(second), decode);
  EXPECT_EQ(name(late), "none");
}

TEST(StepRoots, DetailedAnnotationsHideThePlainOnes) {
  const char* const detailed = "step[DECODE bs=1 g_sq=1 g_sk=9 g_sqsq=1 g_sqsk=9]";
  TestTrace t;
  t.event(Category::kUserAnnotation, "step[DECODE bs=1]", 0, 10);
  const EventId late = t.event(Category::kUserAnnotation, detailed, 40, 10),
                early = t.event(Category::kUserAnnotation, detailed, 20, 10);
  t.event(Category::kGpuUserAnnotation, detailed, 10, 10);
  t.op(detailed, 0, 10);
  const Trace trace = t.finish();
  EXPECT_EQ(find_step_roots(trace), (std::vector{early, late}));
}

TEST(StepRoots, PlainAnnotationsServeWhereThereIsNothingBetter) {
  TestTrace t;
  const EventId step = t.event(Category::kUserAnnotation, "step[DECODE of no known kind]", 5, 10);
  const EventId image = t.event(Category::kUserAnnotation, "execute_diffusion_1_8x8", 0, 2);
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, 100);
  const Trace trace = t.finish();
  EXPECT_EQ(find_step_roots(trace), (std::vector{image, step}));
}

}  // namespace
}  // namespace tracelens
