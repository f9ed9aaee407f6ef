#include "trace/json_cursor.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tracelens {
namespace {

std::string failure_of(std::string_view text) {
  JsonCursor at{text};
  try {
    at.members([&](const JsonCursor::Text&) { (void)at.number(); });
    at.end();
  } catch (const JsonCursor::Failure& failure) {
    return std::to_string(failure.at) + ": " + failure.what;
  }
  return "read";
}

TEST(JsonCursor, MembersAndItemsComeInOrderWithTheirPlaces) {
  JsonCursor at{R"( {"a" : [1, 2.5e3], "b":[], "c\t": ["x"]} )"};
  std::vector<std::string> seen;
  at.members([&](const JsonCursor::Text& key) {
    seen.push_back(key.text + "@" + std::to_string(key.at));
    at.items([&] { seen.push_back(at.next() == '"' ? at.text().text : at.number().text); });
  });
  at.end();
  EXPECT_EQ(seen, (std::vector<std::string>{"a@3", "1", "2.5e3", "b@21", "c\t@29", "x"}));
}

TEST(JsonCursor, WhatIsNotJsonFailsAtItsPlace) {
  EXPECT_EQ(failure_of(R"({"a": 1})"), "read");
  EXPECT_EQ(failure_of(""), "0: expected {");
  EXPECT_EQ(failure_of(R"({"a": 1)"), "7: expected ,");
  EXPECT_EQ(failure_of(R"({"a" 1})"), "5: expected :");
  EXPECT_EQ(failure_of(R"({"a": 1 "b": 2})"), "8: expected ,");
  EXPECT_EQ(failure_of(R"({a: 1})"), "1: expected text in quotes");
  EXPECT_EQ(failure_of(R"({"a": nope})"), "6: expected a number");
  EXPECT_EQ(failure_of(R"({"a)"), "1: the quote does not end");
  EXPECT_EQ(failure_of(R"({"a": 1} x)"), "9: expected the end of the file");
}

}  // namespace
}  // namespace tracelens
