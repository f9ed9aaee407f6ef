#include "diagnosis/kit/draft.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(Draft, EvidenceStandsInTheOrderOfTheSentence) {
  Draft draft;
  draft.verdict = draft.tell("{} copies of {} take {}.", proof("copies", "count", 3, ""), "weights",
                             proof("copies", "time", 1.5, "ms", {{"kind", "HtoD"}}));
  EXPECT_EQ(draft.verdict, "3 copies of weights take 1.50 ms.");
  ASSERT_EQ(draft.evidence.size(), 2u);
  EXPECT_EQ(draft.evidence[0].column, "count");
  EXPECT_EQ(draft.evidence[1].column, "time");
  EXPECT_EQ(draft.evidence[1].key, (ProofKey{{"kind", "HtoD"}}));
}

TEST(Draft, OneIsNotSeveral) {
  Draft draft;
  const auto calls = [&](double count) {
    return draft.tell("{} for the GPU.", counted(proof("sync_summary", "count", count, ""),
                                                 "call waits", "calls wait"));
  };
  EXPECT_EQ(calls(1), "1 call waits for the GPU.");
  EXPECT_EQ(calls(0.5), "0.5 calls wait for the GPU.");
  EXPECT_EQ(draft.evidence.size(), 2u);
}

}  // namespace
}  // namespace tracelens
