#include "facts/needed_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

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
  EXPECT_THAT(needed_words("abcé?"), IsEmpty());
  EXPECT_THAT(needed_words("(?i)\u212aernel"), IsEmpty());  // the sign of Kelvin, a k in capitals
  EXPECT_THAT(needed_words(std::string(100'000, '(')), IsEmpty());
}

TEST(NeededWords, BracesAreLettersUnlessTheyCount) {
  EXPECT_THAT(needed_words("my_op::{lambda|my_copy"), IsEmpty());
  EXPECT_THAT(needed_words("ab{cd|ef}gh"), IsEmpty());
  EXPECT_THAT(needed_words("ab{|xyz"), IsEmpty());
  EXPECT_THAT(needed_words("ab{,3}c"), IsEmpty());
  EXPECT_THAT(needed_words("abc{2}de"), ElementsAre("ab"));
  EXPECT_THAT(needed_words("abc{2,}"), ElementsAre("ab"));
}

// Whatever RE2 finds has one of the words.
TEST(NeededWords, AreInEveryTextThatMatches) {
  std::mt19937 random{3};
  const auto below = [&random](std::size_t n) { return random() % n; };
  constexpr std::string_view kParts[] = {"a",    "b",   "ab",  "ba", "_",   "|",     "(", ")",
                                         "?",    "*",   "+",   ".",  "{1}", "{0,1}", "{", "}",
                                         "[ab]", "\\b", "\\{", "^",  "$",   "(?:"};
  std::size_t found = 0;
  for (int round = 0; round < 30'000; ++round) {
    std::string pattern;
    for (std::size_t i = 0, n = 1 + below(8); i < n; ++i)
      pattern += kParts[below(std::size(kParts))];
    const RE2 compiled{pattern, RE2::Quiet};
    const std::vector<std::string> words = needed_words(pattern);
    if (!compiled.ok() || words.empty()) continue;
    for (int i = 0; i < 12; ++i) {
      std::string text;
      for (std::size_t k = 0, n = below(7); k < n; ++k) text += "ab_{}1"[below(6)];
      if (!RE2::PartialMatch(text, compiled)) continue;
      ++found;
      ASSERT_TRUE(std::ranges::any_of(
          words, [&](const std::string& word) { return text.find(word) != text.npos; }))
          << pattern << " in " << text;
    }
  }
  EXPECT_GT(found, 1'000U);
}

}  // namespace
}  // namespace tracelens
