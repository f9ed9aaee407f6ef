#include "io/code_points.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tracelens::io {
namespace {

TEST(CodePoints, DecodesWhatItEncodes) {
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

TEST(CodePoints, EveryByteOfAMalformedSequenceIsOneInvalidCodePoint) {
  // A lone continuation, an overlong slash, a surrogate, a cut sequence, a code point too large.
  for (const std::string text :
       {"\x80", "\xc0\xaf", "\xed\xa0\x80", "\xe6\x97", "\xf4\x90\x80\x80"})
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t before = at;
      EXPECT_FALSE(next_code_point(text, at).valid);
      EXPECT_EQ(at, before + 1);
    }
}

}  // namespace
}  // namespace tracelens::io
