#include "report/convert/fuse_event.hpp"

#include <gtest/gtest.h>

#include "readers/chrome/padded_text.hpp"
#include "readers/chrome/strict_json.hpp"

namespace tracelens {
namespace {

// What becomes of an event of rank 1.
struct Copied {
  std::string text;
  std::uint64_t repaired = 0, unreadable = 0;
};
Copied copy(const std::string& event) {
  const FuseOptions options;
  RankEvents events{1, {.pid = 10, .id = 10, .link = 10}, options, {}};
  const std::string padded = event + std::string(json::kPadding, '\0');
  Copied copied;
  events.rewrite(std::string_view{padded}.substr(0, event.size()), copied.text);
  copied.repaired = events.damage().repaired;
  copied.unreadable = events.damage().left_out;
  return copied;
}

TEST(FuseEvent, ASoundEventIsCopiedAsItStands) {
  const Copied copied = copy(R"({"ph": "X", "ts": 1.50, "args": {"x": [1e3, "\u00e9"]}})");
  EXPECT_EQ(copied.text, R"({"ph": "X", "ts": 1.50, "args": {"x": [1e3, "\u00e9"], "rank": 1}})");
  EXPECT_EQ(copied.repaired, 0U);
}

TEST(FuseEvent, WhatIsNoJsonIsWrittenAsJson) {
  EXPECT_EQ(copy(R"({"ph": "X", "ts": 01, "dur": .5, "args": {"x": NaN, "y": [inf, 2]}})").text,
            R"({"ph": "X", "ts": 1, "dur": 0.5, "args": {"x": null, "y": [null, 2], "rank": 1}})");
  EXPECT_EQ(copy("{\"name\": \"a\\qb\xff\", \"k\xff\": 1}").text,
            "{\"name\": \"aqb\xef\xbf\xbd\", \"k\xef\xbf\xbd\": 1, \"args\": {\"rank\": 1}}");
  EXPECT_EQ(copy(R"({"ph": "X", "name": "k", "what": ever})").text,
            R"({"ph": "X", "name": "k", "what": null, "args": {"rank": 1}})");
}

TEST(FuseEvent, WhateverIsCopiedIsJsonAndIsCounted) {
  for (const std::string value :
       {"inf", "-NaN", "01", "1.", "--1", "\"\\x41\"", "\"\\ud800\"", "\"\xc3(\"", "[1}", "{]",
        "{\"a\" 1}", "[1,,2]", "\"a\nb\"", "nul", "\"\\\"", "[[[[nan]]]]"}) {
    for (const char* const key : {"x", "id", "pid", "ts", "name", "args", "k\\q"}) {
      const Copied copied = copy("{\"ph\": \"X\", \"" + std::string{key} + "\": " + value +
                                 ", \"args\": {\"" + key + "\": " + value + "}}");
      if (copied.unreadable == 0)
        EXPECT_TRUE(json::is_strict_json(copied.text)) << key << value << copied.text;
      else
        EXPECT_EQ(copied.text, "");
    }
    const Copied one = copy("{\"x\": " + value + "}");
    EXPECT_EQ(one.repaired + one.unreadable, 1U) << value;
  }
}

}  // namespace
}  // namespace tracelens
