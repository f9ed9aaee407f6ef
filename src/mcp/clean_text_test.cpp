#include "mcp/clean_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tracelens::mcp {
namespace {

TEST(CleanText, WhatCannotBeSeenGoesAndLinesBecomeOne) {
  EXPECT_EQ(clean_text("a\nb\tc\r\nd"), "a b c  d");
  EXPECT_EQ(clean_text("a\u202Eb\u200Bc\u2066d\uFEFFe\u00ADf"), "abcdef");
  EXPECT_EQ(clean_text("\x1b[31mred\x07"), "[31mred");
  EXPECT_EQ(clean_text("tag\U000E0041\U000E007F"), "tag");
  EXPECT_EQ(clean_text("next\u2028line\u00A0end"), "next line end");
  EXPECT_EQ(clean_text("broken \xff\xc3 bytes"), "broken  bytes");
  EXPECT_EQ(clean_text("µs 日本 é"), "µs 日本 é");
}

TEST(CleanText, VeryLongNamesAreCut) {
  EXPECT_LE(clean_text(std::string(100'000, 'x')).size(), kLongestName);
}

TEST(CleanText, ACellCannotEndItsQuotes) {
  EXPECT_EQ(quoted_cell("a `b` | c"), "`a 'b' ¦ c`");
  EXPECT_EQ(quoted_cell(""), "");
  EXPECT_LE(in_quotes(std::string(500, 'y')).size(), kQuotedInSentence + 4);
}

TEST(CleanText, NamesInSentencesAreQuotedTheLongestFirst) {
  EXPECT_EQ(with_quoted_names("mm_big is slower than mm", {"mm", "mm_big"}),
            "`mm_big` is slower than `mm`");
  EXPECT_EQ(with_quoted_names("no `names` <here>", {}), "no 'names' ‹here›");
}

TEST(CleanText, SignsOfComparisonAreNoTags) {
  EXPECT_EQ(clean_sentence("it has no >; expected WHAT > AMOUNT, or a < b, a <= b"),
            "it has no >; expected WHAT > AMOUNT, or a < b, a <= b");
  EXPECT_EQ(clean_sentence("> quoted <b>bold</b> <!-- x"), "› quoted ‹b›bold‹/b› ‹!-- x");
}

}  // namespace
}  // namespace tracelens::mcp
