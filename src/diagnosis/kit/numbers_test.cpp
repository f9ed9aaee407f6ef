#include "diagnosis/kit/numbers.hpp"

#include <gtest/gtest.h>

#include <tracelens/error.hpp>

#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

constexpr Number kOwn[] = {{"least_pct", 5, ""}, {"factor", 0.5, ""}};

RuleSettings settings_of(std::string_view json) {
  const io::TemporaryFolder folder;
  return read_rule_settings(folder.write("rules.json", json));
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
