#include "facts/step_annotation.hpp"

#include <gtest/gtest.h>

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

StepAnnotation parsed(std::string_view name, Edition edition = Edition::kReference) {
  const auto step = parse_step_annotation(name, edition);
  EXPECT_TRUE(step) << name;
  return step.value_or(StepAnnotation{});
}

void expect_step(const StepAnnotation& step, AnnotationKind kind, std::int64_t batch_size,
                 std::int64_t context_requests, std::int64_t context_sum,
                 std::int64_t generation_requests, std::int64_t generation_sum) {
  EXPECT_EQ(kind_name(step.kind), kind_name(kind));
  EXPECT_EQ(step.batch_size, batch_size);
  EXPECT_EQ(step.context_requests, context_requests);
  EXPECT_EQ(step.context_sum, context_sum);
  EXPECT_EQ(step.generation_requests, generation_requests);
  EXPECT_EQ(step.generation_sum, generation_sum);
}

TEST(StepAnnotation, OfVllm) {
  const auto detailed =
      parsed("execute_999_context_2(sq60sk70sqsq1800sqsk2100)_generation_3(sq3sk90sqsq3sqsk90)");
  expect_step(detailed, AnnotationKind::kVllmDetailed, 63, 2, 60, 3, 3);
  EXPECT_TRUE(detailed.has_all_tokens);
  EXPECT_EQ(detailed.phase, ServingPhase::kMixed);
  const auto plain = parsed("execute_context_2(60)_generation_0(0)_more");
  expect_step(plain, AnnotationKind::kVllm, 60, 2, 60, 0, 0);
  EXPECT_FALSE(plain.has_all_tokens);
  EXPECT_EQ(plain.tokens.context.sq, 60);
  EXPECT_EQ(plain.phase, ServingPhase::kPrefill);
}

TEST(StepAnnotation, OfSglang) {
  const auto mixed = parsed(
      "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 "
      "g_sqsk=12]");
  expect_step(mixed, AnnotationKind::kSglangDetailed, 6, 1, 5, 1, 1);
  EXPECT_EQ(mixed.mode, "MIXED");
  EXPECT_EQ(mixed.requests(), 2);
  const auto decode = parsed("step[DECODE bs=32 g_sq=32 g_sk=32785 g_sqsq=32 g_sqsk=32785]");
  expect_step(decode, AnnotationKind::kSglangDetailed, 32, 0, 0, 32, 32);
  EXPECT_EQ(decode.phase, ServingPhase::kDecode);
  expect_step(parsed("step[EXTEND bs=3 toks=7 c_sqsq=0]"), AnnotationKind::kSglangDetailed, 7, 3, 0,
              0, 0);
  expect_step(parsed("step[EXTEND bs=2 toks=4096]"), AnnotationKind::kSglang, 4096, 2, 4096, 0, 0);
  expect_step(parsed("step[DECODE bs=32]"), AnnotationKind::kSglang, 32, 0, 0, 32, 32);
}

TEST(StepAnnotation, SglangsShortMixedIsPrefillForTheReferenceOnly) {
  const auto theirs = parsed("step[MIXED bs=2]");
  expect_step(theirs, AnnotationKind::kSglang, 2, 2, 0, 0, 0);
  EXPECT_EQ(theirs.phase, ServingPhase::kPrefill);
  EXPECT_EQ(parsed("step[MIXED bs=2]", Edition::kExtended).phase, ServingPhase::kMixed);
  EXPECT_FALSE(parsed("step[MIXED bs=2 toks=9]", Edition::kExtended).is_divided);
  EXPECT_TRUE(parsed("step[EXTEND bs=2 toks=9]", Edition::kExtended).is_divided);
}

TEST(StepAnnotation, OfAtom) {
  const auto plain = parsed("decode[bs=32 tok=128 d=32 spec=3]");
  expect_step(plain, AnnotationKind::kAtom, 128, 0, 0, 32, 128);
  EXPECT_FALSE(plain.has_all_tokens);
  EXPECT_EQ(plain.tokens.generation.sq, 128);
  EXPECT_EQ(plain.decodes, 32);
  EXPECT_EQ(plain.speculated, 3);
  expect_step(parsed("prefill[reqs=[1, 2]...+3 bs=117/128 tok=x]"), AnnotationKind::kAtom, 0, 117,
              0, 0, 0);
  // Without both products the sums are of no use to a model, but the annotation is a detailed one.
  EXPECT_FALSE(parsed("prefill[bs=1 tok=8 sqsq=64]").has_all_tokens);
  EXPECT_EQ(annotation_tier("prefill[bs=1 tok=8 sqsq=64]"), 1);
}

TEST(StepAnnotation, AtomsMixedStepIsDividedInOurEdition) {
  const char* const name =
      "decode[bs=128 tok=384 p=2 d=126 sqsq=132612 sqsk=1114112 sk=258048 tbo=1]";
  const auto theirs = parsed(name), ours = parsed(name, Edition::kExtended);
  expect_step(theirs, AnnotationKind::kAtomDetailed, 384, 0, 0, 128, 384);
  EXPECT_EQ(theirs.phase, ServingPhase::kDecode);
  expect_step(ours, AnnotationKind::kAtomDetailed, 384, 2, 258, 126, 126);
  EXPECT_EQ(ours.phase, ServingPhase::kMixed);
  EXPECT_EQ(ours.tokens.generation.sqsk, 1114112);
}

TEST(StepAnnotation, OfDiffusion) {
  const auto theirs = parsed("execute_diffusion_4_256x512_x");
  expect_step(theirs, AnnotationKind::kDiffusion, 4, 0, 0, 0, 0);
  EXPECT_EQ(theirs.resolution, "256x512");
  EXPECT_EQ(theirs.phase, ServingPhase::kNone);
  const auto ours = parsed("execute_diffusion_4_256x512_x", Edition::kExtended);
  expect_step(ours, AnnotationKind::kDiffusion, 4, 0, 0, 4, 0);
  EXPECT_EQ(ours.phase, ServingPhase::kDenoise);
}

TEST(StepAnnotation, OtherNamesAreNone) {
  for (const char* name :
       {"", "ProfilerStep#3", "execute", "execute_context_2(60)_generation_3(3", "step[DECODE x]",
        "step[DECODES bs=1]", "step[IDLE bs=1]", "my step[DECODE bs=1]", "decode bs=1",
        "execute_diffusion_1_256", "capture_32_FULL"})
    EXPECT_FALSE(parse_step_annotation(name)) << name;
}

TEST(StepAnnotation, TiersGoByTheLookOfTheName) {
  EXPECT_EQ(annotation_tier("step[DECODE x]"), 2);
  EXPECT_EQ(annotation_tier("step[DECODE bs=1 g_sqsq=1]"), 1);
  EXPECT_EQ(annotation_tier("execute_diffusion_1_2x3"), 2);
  EXPECT_EQ(annotation_tier("execute_context_2(60)_generation_3(3)"), 2);
  EXPECT_EQ(annotation_tier("execute_1_context_0(sq0sk0sqsq0sqsk0)_generation_1(sq1sk1sqsq1sqsk1)"),
            1);
  EXPECT_EQ(annotation_tier("decode[bs=1]"), 2);
  EXPECT_EQ(annotation_tier("ProfilerStep#1"), 0);
}

TEST(StepAnnotation, NumbersBeyondReasonStopAtABorder) {
  const auto step = parsed(
      "execute_context_99999999999999999999999(99999999999999999999999)_generation_9223372036854"
      "775807(1)");
  EXPECT_EQ(step.requests(), 2'000'000'000'000'000);
  const auto atom =
      parsed("decode[bs=9 tok=9 p=1 d=99999999999999999999 spec=99999999999999999999]",
             Edition::kExtended);
  EXPECT_EQ(atom.generation_sum, 9);
  EXPECT_EQ(atom.context_sum, 0);
}

TEST(CaptureAnnotation, HasABatchSizeAndAMode) {
  const auto capture = parse_capture_annotation("capture_128_PIECEWISE");
  ASSERT_TRUE(capture);
  EXPECT_EQ(capture->batch_size, 128);
  EXPECT_EQ(capture->mode, "PIECEWISE");
  EXPECT_FALSE(parse_capture_annotation("capture_x_FULL"));
  EXPECT_FALSE(parse_capture_annotation("a capture_1_FULL"));
}

}  // namespace
}  // namespace tracelens
