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

}  // namespace
}  // namespace tracelens
