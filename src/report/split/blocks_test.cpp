#include "report/split/blocks.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracelens {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

StepAnnotation step(int context, int generation, double keys = 0) {
  StepAnnotation made;
  made.context_requests = context;
  made.generation_requests = generation;
  made.phase = phase_of(context, generation);
  made.tokens.context.sq = 64.0 * context;
  made.tokens.generation = {.sq = static_cast<double>(generation), .sk = keys};
  made.has_all_tokens = true;
  return made;
}

std::vector<StepAnnotation> decoding(int steps, int requests, double keys) {
  return std::vector<StepAnnotation>(static_cast<std::size_t>(steps), step(0, requests, keys));
}

std::vector<StepAnnotation> operator+(std::vector<StepAnnotation> a,
                                      const std::vector<StepAnnotation>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<std::string> texts(const std::vector<Block>& blocks) {
  std::vector<std::string> found;
  for (const Block& block : blocks)
    found.push_back(fmt::format("{} {}+{} of {}", phase_name(block.phase), block.first, block.steps,
                                block.run_steps));
  return found;
}

TEST(Blocks, AreRunsOfAPhaseCutIntoWindows) {
  const auto steps = decoding(9, 8, 100) + std::vector{step(1, 7), step(0, 0), step(2, 0)} +
                     decoding(1, 8, 100) + std::vector{step(1, 1)} + decoding(3, 8, 100);
  EXPECT_THAT(texts(find_blocks(steps, 4)),
              ElementsAre("decode 0+4 of 9", "decode 4+4 of 9", "mixed 9+1 of 1",
                          "prefill 11+1 of 1", "mixed 13+1 of 1", "decode 14+3 of 3"));
  EXPECT_THAT(find_blocks({}, 4), SizeIs(0));
}

TEST(Blocks, ThoseWithTheMostSimilarRequestsMatch) {
  const auto a = decoding(4, 8, 1000) + std::vector{step(1, 7)} + decoding(4, 8, 2000);
  const auto b = decoding(4, 8, 1900) + std::vector{step(2, 6)} + decoding(4, 4, 2000);
  const auto blocks_a = find_blocks(a, 4), blocks_b = find_blocks(b, 4);
  const auto decode = best_match(ServingPhase::kDecode, a, blocks_a, b, blocks_b);
  ASSERT_TRUE(decode);
  EXPECT_EQ(blocks_a[decode->a].first, 5u);
  EXPECT_EQ(blocks_b[decode->b].first, 0u);
  EXPECT_THAT(decode->distance, ElementsAre(0, 100));
  const auto mixed = best_match(ServingPhase::kMixed, a, blocks_a, b, blocks_b);
  ASSERT_TRUE(mixed);
  EXPECT_THAT(mixed->distance, ElementsAre(1, 1, 64, 1));
  EXPECT_FALSE(best_match(ServingPhase::kPrefill, a, blocks_a, b, blocks_b));
}

TEST(Blocks, EqualOnesFromLongerRunsMatchFirst) {
  const auto a = decoding(2, 8, 10) + std::vector{step(1, 7)} + decoding(8, 8, 10);
  const auto blocks = find_blocks(a, 2);
  const auto match = best_match(ServingPhase::kDecode, a, blocks, a, blocks);
  ASSERT_TRUE(match);
  EXPECT_EQ(blocks[match->a].first, 3u);
}

TEST(Blocks, StepsWithoutAllSumsDoNotMatch) {
  auto a = decoding(4, 8, 1000);
  a[2].has_all_tokens = false;
  const auto blocks = find_blocks(a, 4);
  EXPECT_FALSE(best_match(ServingPhase::kDecode, a, blocks, a, blocks));
}

}  // namespace
}  // namespace tracelens
