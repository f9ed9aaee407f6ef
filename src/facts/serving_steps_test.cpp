#include "facts/serving_steps.hpp"

#include <gtest/gtest.h>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

void expect_group(const StepTokens::Group& group, double sq, double sk, double sqsq, double sqsk) {
  EXPECT_EQ(group.sq, sq);
  EXPECT_EQ(group.sk, sk);
  EXPECT_EQ(group.sqsq, sqsq);
  EXPECT_EQ(group.sqsk, sqsk);
}

TEST(StepTokens, OfVllm) {
  const auto tokens = parse_step_tokens(
      "execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)"
      "_generation_3(sq3sk6144sqsq3sqsk6145) and more");
  ASSERT_TRUE(tokens);
  expect_group(tokens->context, 6144, 7144, 20971520, 23019520);
  expect_group(tokens->generation, 3, 6144, 3, 6145);
}

TEST(StepTokens, OfSglang) {
  const auto tokens = parse_step_tokens(
      "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 "
      "g_sqsk=12]");
  ASSERT_TRUE(tokens);
  expect_group(tokens->context, 5, 8, 25, 40);
  expect_group(tokens->generation, 1, 12, 1, 12);
}

TEST(StepTokens, OfAtom) {
  const auto decode =
      parse_step_tokens("decode[bs=128 tok=384 p=2 d=126 sqsq=132612 sqsk=1114112 sk=258048]");
  ASSERT_TRUE(decode);
  expect_group(decode->context, 0, 0, 0, 0);
  expect_group(decode->generation, 384, 258048, 132612, 1114112);
  const auto prefill = parse_step_tokens("prefill[bs=1 tok=8 sqsq=64 sqsk=64 sk=8]");
  ASSERT_TRUE(prefill);
  expect_group(prefill->context, 8, 8, 64, 64);
}

TEST(StepTokens, AnnotationsWithoutAllCountsHaveNone) {
  for (const char* name : {"", "ProfilerStep#3", "execute_context_2(60)_generation_3(3)",
                           "step[DECODE bs=32]", "step[IDLE g_sqsq=3]", "decode[bs=32 tok=128]",
                           "decode[bs=3 tok=9 sqsq=9]", "my decode[bs=3 tok=9 sqsq=9 sqsk=9]",
                           "execute_1_context_0(sq0sk0sqsq0sqsk0)_generation_1(sq1sk1sqsq1sqsk"})
    EXPECT_FALSE(parse_step_tokens(name)) << name;
}

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

}  // namespace
}  // namespace tracelens
