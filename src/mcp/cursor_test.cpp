#include "mcp/cursor.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tracelens::mcp {
namespace {

TEST(Cursor, ComesBackAsItWas) {
  const Cursor cursor{"table", 0xDEADBEEF, 0x0123456789ABCDEF, 137};
  EXPECT_EQ(parse_cursor(cursor_text(cursor)), cursor);
}

TEST(Cursor, AnyChangedLetterIsNoticed) {
  const std::string text = cursor_text({"table", 1, 2, 3});
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string other = text;
    other[at] = other[at] == 'A' ? 'B' : 'A';
    if (other == text) continue;
    const auto parsed = parse_cursor(other);
    EXPECT_TRUE(!parsed || *parsed == (Cursor{"table", 1, 2, 3})) << at;
  }
  for (const char* const text_of_others : {"", "x", "====", "bm9uc2Vuc2U"})
    EXPECT_FALSE(parse_cursor(text_of_others));
}

}  // namespace
}  // namespace tracelens::mcp
