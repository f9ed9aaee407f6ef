#include "readers/chrome/repaired_json.hpp"

#include <gtest/gtest.h>

#include "readers/chrome/strict_json.hpp"

namespace tracelens {
namespace {

TEST(RepairedJson, KeepsWhatIsStrictAndPutsRightWhatIsNot) {
  JsonRepairs repairs;
  const std::string text = repaired_list(
      R"({"a": [1, 2]} ,, {"ts": .5, "n\q": 01, "args": {"x": NaN, "y": "\u00e9"}}, 7, {"b": 1})",
      repairs);
  EXPECT_EQ(repairs.repaired, 1u);
  EXPECT_EQ(repairs.left_out, 1u);
  EXPECT_TRUE(json::is_strict_list(text)) << text;
  EXPECT_TRUE(text.starts_with("{\"a\": [1, 2]},\n{\"ts\": ")) << text;
  EXPECT_NE(text.find("\"y\": \"\\u00e9\""), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(",\n{\"b\": 1}")) << text;
  EXPECT_FALSE(repairs.sentence().empty());
}

TEST(RepairedJson, IsStrictWhateverTheValue) {
  for (const std::string value :
       {"inf", "-Infinity", "01", "5.", "+1", "\"\\x41\"", "\"\\ud800\"", "\"a\x01z\"", "\"\xff\"",
        "[1,]", "{,}", "nul", "1e999", "{\"k\": NaN}"})
    for (const char* const key : {"k", "args", "a\\q", "\xff"}) {
      JsonRepairs repairs;
      const std::string text =
          repaired_list("{\"" + std::string{key} + "\": " + value + "}, {\"z\": 1}", repairs);
      EXPECT_TRUE(json::is_strict_list(text)) << key << " " << value << " " << text;
    }
}

TEST(RepairedJson, ControlCharactersAreWrittenAsJsonWritesThem) {
  JsonRepairs repairs;
  EXPECT_EQ(repaired_list("{\"name\": \"a\x1b[1m\"}", repairs), R"({"name": "a\u001b[1m"})");
  EXPECT_EQ(repairs.repaired, 1u);
}

TEST(RepairedJson, NothingIsLeftOfNoObjects) {
  JsonRepairs repairs;
  EXPECT_EQ(repaired_list("1, [2], \"x", repairs), "");
  EXPECT_EQ(repairs.left_out, 3u);
  EXPECT_EQ(JsonRepairs{}.sentence(), "");
}

}  // namespace
}  // namespace tracelens
