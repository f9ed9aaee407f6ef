#include "readers/chrome/holes.hpp"

#include <gtest/gtest.h>

#include <string>

#include "readers/chrome/padded_text.hpp"

namespace tracelens {
namespace {

AfterHole find(std::string_view text) {
  PaddedText padded;
  padded.append(text);
  return find_event_after_hole(padded.view(), 0);
}

TEST(Holes, TheNextObjectWithAPhaseIsAnEvent) {
  const std::string behind = R"( x], "n": "}, {\"ph\": 1", "l": [{"a": 1}, {"b": [2]}]}, )";
  const AfterHole next = find(behind + R"({"ph": "X"}, {"ph": "i"}])");
  EXPECT_TRUE(next.found);
  EXPECT_EQ(next.at, behind.size());
}

TEST(Holes, WhatIsFoundDoesNotDependOnTheTextThatFollows) {
  const std::string behind = "a\": 1}, { ", event = R"({"ph": "X"})";
  const std::string text = behind + std::string(2, '\0') + event;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const AfterHole next = find(std::string_view{text}.substr(0, size));
    EXPECT_EQ(next.found, size == text.size()) << size;
    if (next.found) {
      EXPECT_EQ(next.at, behind.size() + 2);
      continue;
    }
    const AfterHole again = find(std::string_view{text}.substr(next.at));
    EXPECT_TRUE(again.found) << size;
    EXPECT_EQ(next.at + again.at, behind.size() + 2) << size;
  }
}

TEST(Holes, TheListEndsWhereTheRestIsTheRestOfTheFile) {
  const auto rest = [](const std::string& text) {
    const std::size_t end = find_list_end_after_hole(text);
    return end == std::string::npos ? "none" : text.substr(end);
  };
  EXPECT_EQ(rest(R"([1], "l": [{"a": 1}], "b": 2}}], "traceName": "x"})"),
            R"(, "traceName": "x"})");
  EXPECT_EQ(rest("\n]\n"), "\n");
  EXPECT_EQ(rest(R"("a": [1]})"), "none");
  EXPECT_EQ(rest(""), "none");
}

}  // namespace
}  // namespace tracelens
