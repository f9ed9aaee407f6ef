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
