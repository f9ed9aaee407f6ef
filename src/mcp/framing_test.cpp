#include "mcp/framing.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tracelens::mcp {
namespace {

// The lines that a text is, in pieces of this size; "!" for one that is too long.
std::vector<std::string> lines_of(std::string_view text, std::size_t piece) {
  std::vector<std::string> lines;
  LineBuffer buffer;
  for (std::size_t at = 0; at < text.size(); at += piece)
    buffer.add(
        text.substr(at, piece), [&](std::string_view line) { lines.emplace_back(line); },
        [&] { lines.emplace_back("!"); });
  return lines;
}

TEST(LineBuffer, LinesAreTheSameHoweverTheyArrive) {
  const std::string text = "{\"a\":1}\n{\"b\":2}\r\n\n\r\n{}\nrest";
  const std::vector<std::string> expected{"{\"a\":1}", "{\"b\":2}", "{}"};
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 100u}) EXPECT_EQ(lines_of(text, piece), expected);
}

TEST(LineBuffer, OfALineThatIsTooLongOnlyTheNewsIsKept) {
  const std::string longest(LineBuffer::kLongestLine, 'x');
  const std::string text = "a\n" + longest + "\n" + longest + "y\nb\n";
  const std::vector<std::string> expected{"a", longest, "!", "b"};
  EXPECT_EQ(lines_of(text, text.size()), expected);
  EXPECT_EQ(lines_of(text, 65536), expected);
}

}  // namespace
}  // namespace tracelens::mcp
