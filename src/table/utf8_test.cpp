#include "table/utf8.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tracelens {
namespace {

TEST(Utf8, ValidTextIsNotCopied) {
  const std::string text = "µs ok";
  EXPECT_EQ(ValidUtf8{text}.view().data(), text.data());
}

TEST(Utf8, InvalidBytesAreReplacedOneByOne) {
  EXPECT_EQ(ValidUtf8{"\xff"}.view(), "\ufffd");
  EXPECT_EQ(ValidUtf8{"aµ\xff\xfe"
                      "b\xc3"}
                .view(),
            "aµ\ufffd\ufffdb\ufffd");
}

TEST(Utf8, WidthCountsTerminalColumns) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("µs…"), 3u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
  EXPECT_EQ(display_width("🚀"), 2u);
}

TEST(Utf8, SeparatorsAndFormatCharactersDoNotPrint) {
  for (const char32_t point : {U'\u00a0', U'\u2028', U'\u200b', U'\ufeff', U'\ue000', U'\x7f'})
    EXPECT_FALSE(is_printable(point)) << std::hex << static_cast<unsigned>(point);
  for (const char32_t point : {U' ', U'~', U'¡', U'日', U'🚀'})
    EXPECT_TRUE(is_printable(point)) << std::hex << static_cast<unsigned>(point);
}

TEST(Utf8, SingleLineIsSafeToShow) {
  EXPECT_EQ(single_line("a\tb\r\n\x1b[0m\xff µ"), "a b  \ufffd[0m\ufffd µ");
}

TEST(Utf8, WhatReordersOrBreaksLinesIsNotShown) {
  EXPECT_EQ(single_line("a\u202eb\u2066c\u2028d\u0085e\u009bf\x7f"),
            "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffd");
}

TEST(Utf8, PrintedLinesKeepTheirBreaksAndOurColoursOnly) {
  const std::string text = "a\n\x1b[1;31mred\x1b[0m\x1b]0;title\x07\r\x1b[2Jb\u202e";
  EXPECT_EQ(printed_lines(text, ColourCodes::kKeep),
            "a\n\x1b[1;31mred\x1b[0m\ufffd]0;title\ufffd \ufffd[2Jb\ufffd");
  EXPECT_EQ(printed_lines("\x1b[1mx\n", ColourCodes::kRemove), "\ufffd[1mx\n");
  EXPECT_EQ(printed_lines("\x1b[12", ColourCodes::kKeep), "\ufffd[12");
}

TEST(Utf8, PrintedLinesAreNoCommandsOfACiSystem) {
  const auto printed = [](std::string_view text) {
    return printed_lines(text, ColourCodes::kKeep);
  };
  EXPECT_EQ(printed("::error::x\n  ::set-output\na ::error::"),
            ":\ufffderror::x\n  :\ufffdset-output\na ::error::");
  EXPECT_EQ(printed("\x1b[1m::error::\x1b[0m"), "\x1b[1m:\ufffderror::\x1b[0m");
  EXPECT_EQ(printed("a ##[error] ##vso[task"), "a #\ufffd[error] #\ufffdvso[task");
  EXPECT_EQ(printed("###[e]\n## Heading\n##word\na::b"), "##\ufffd[e]\n## Heading\n##word\na::b");
}

TEST(Shorten, CutsTheEndAndSaysSo) {
  EXPECT_EQ(shorten("kernel", 6), "kernel");
  EXPECT_EQ(shorten("kernel", 4), "ker…");
  EXPECT_EQ(shorten("kernel", 0), "");
  EXPECT_EQ(shorten("日本語", 4), "日…");  // a wide character is never halved
}

TEST(Shorten, MiddleKeepsHeadAndTail) {
  EXPECT_EQ(shorten_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shorten_middle("abcdefghij", 7), "abcd…ij");
  EXPECT_EQ(shorten_middle("abcdefghij", 1), "…");
  EXPECT_EQ(shorten_middle("日本語日本語", 8), "日本…語");
}

}  // namespace
}  // namespace tracelens
