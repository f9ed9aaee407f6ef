#include "table/utf8.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tracelens {
namespace {

TEST(Utf8, DecodesWhatItEncodes) {
  for (const char32_t point : {U'a', U'µ', U'…', U'日', U'🚀', char32_t{0x10FFFF}}) {
    std::string text;
    append_utf8(text, point);
    std::size_t at = 0;
    const CodePoint read = next_code_point(text, at);
    EXPECT_TRUE(read.valid);
    EXPECT_EQ(read.value, point);
    EXPECT_EQ(at, text.size());
  }
}

TEST(Utf8, EveryByteOfAMalformedSequenceIsOneInvalidCodePoint) {
  // A lone continuation, an overlong slash, a surrogate, a cut sequence, a code point too large.
  for (const std::string text :
       {"\x80", "\xc0\xaf", "\xed\xa0\x80", "\xe6\x97", "\xf4\x90\x80\x80"})
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t before = at;
      EXPECT_FALSE(next_code_point(text, at).valid);
      EXPECT_EQ(at, before + 1);
    }
}

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
