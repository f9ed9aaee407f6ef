#include "diagnosis/kit/numbers.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>

namespace tracelens {
namespace {

constexpr Number kOwn[] = {{"least_pct", 5, ""}, {"factor", 0.5, ""}};

RuleSettings settings_of(std::string_view json) {
  const std::string file = testing::TempDir() + "rules.json";
  write_text_file(file, json);
  RuleSettings settings = read_rule_settings(file);
  std::remove(file.c_str());
  return settings;
}

TEST(Numbers, AFileSetsThemByRuleAndKey) {
  const RuleSettings settings = settings_of(
      R"({"DATA-1.least_pct": 3, "DATA-1.title": "Slow data", "DATA-1.try": ["more workers"]})");
  const Numbers data{"DATA-1", kOwn, settings}, other{"SYNC-1", kOwn, settings};
  EXPECT_EQ(data["least_pct"], 3);
  EXPECT_EQ(data["factor"], 0.5);
  EXPECT_EQ(other["least_pct"], 5);
  EXPECT_EQ(settings.texts.at("DATA-1.title"), "Slow data");
  EXPECT_EQ(settings.lists.at("DATA-1.try").front(), "more workers");
}

TEST(Numbers, WhatIsNeitherNumberNorTextIsAnError) {
  EXPECT_THROW(settings_of(R"({"DATA-1.least_pct": true})"), Error);
  EXPECT_THROW(settings_of("[1]"), Error);
  EXPECT_THROW(settings_of("{"), Error);
}

}  // namespace
}  // namespace tracelens
