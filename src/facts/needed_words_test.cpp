#include "facts/needed_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NeededWords, AreTheLongestOfEachAlternative) {
  EXPECT_THAT(needed_words("gemm"), ElementsAre("gemm"));
  EXPECT_THAT(needed_words("(?i)NCCL|all_?reduce|(one|two)_?shot"),
              ElementsAre("nccl", "reduce", "shot"));
  EXPECT_THAT(needed_words("^triton_tem_.*mm"), ElementsAre("triton_tem_"));
  EXPECT_THAT(needed_words("a\\.bc\\b|[fdw]prop"), ElementsAre("a.bc", "prop"));
  EXPECT_THAT(needed_words("(flash|fmha).*(bwd|bprop)"), ElementsAre("flash", "fmha"));
  EXPECT_THAT(needed_words("ab+cde"), ElementsAre("cde"));
}

TEST(NeededWords, LeaveOutWhatMayBeLeftOut) {
  EXPECT_THAT(needed_words("abc?"), ElementsAre("ab"));
  EXPECT_THAT(needed_words("abc*d"), ElementsAre("ab"));
  EXPECT_THAT(needed_words("ab{0,2}"), ElementsAre("a"));
  EXPECT_THAT(needed_words("x(abc)?y"), ElementsAre("x"));
  EXPECT_THAT(needed_words("x(?:abc)+?"), ElementsAre("x"));
}

TEST(NeededWords, AreNoneWhereNothingIsKnown) {
  EXPECT_THAT(needed_words(""), IsEmpty());
  EXPECT_THAT(needed_words("abc|"), IsEmpty());
  EXPECT_THAT(needed_words("abc|.*"), IsEmpty());
  EXPECT_THAT(needed_words("(abc|[xy])"), IsEmpty());
  EXPECT_THAT(needed_words("(?P<name>abc)"), IsEmpty());
  EXPECT_THAT(needed_words("abc\\x41"), IsEmpty());
  EXPECT_THAT(needed_words("abc\\Qd|e\\E"), IsEmpty());
  EXPECT_THAT(needed_words("[[:alpha:]]abc"), IsEmpty());
  EXPECT_THAT(needed_words("abc)"), IsEmpty());
  EXPECT_THAT(needed_words("(abc"), IsEmpty());
  EXPECT_THAT(needed_words("[abc"), IsEmpty());
  EXPECT_THAT(needed_words("a(?i)b"), IsEmpty());
}

}  // namespace
}  // namespace tracelens
