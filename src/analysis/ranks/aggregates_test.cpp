#include "analysis/ranks/aggregates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tracelens/error.hpp>

namespace tracelens {
namespace {

using Values = std::vector<std::optional<double>>;

std::optional<double> by_name(const std::string& name, const Values& values, double unit = 1) {
  return aggregate(parse_aggregates(std::vector<std::string>{name}).front(), values, unit);
}

TEST(Aggregates, EmptyValuesAreLeftOut) {
  const Values values{4, std::nullopt, 1, 1};
  EXPECT_EQ(by_name("mean", values), 2);
  EXPECT_EQ(by_name("median", values), 1);
  EXPECT_EQ(by_name("first", values), 4);
  EXPECT_EQ(by_name("last", values), 1);
  EXPECT_EQ(by_name("count", values), 3);
  EXPECT_EQ(by_name("size", values), 4);
  EXPECT_EQ(by_name("nunique", values), 2);
  EXPECT_EQ(by_name("prod", values), 4);
}

TEST(Aggregates, SpreadIsThatOfASample) {
  EXPECT_EQ(by_name("var", {1, 3}), 2);
  EXPECT_EQ(by_name("std", {1, 3}), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(by_name("sem", {1, 3}).value(), 1);
  EXPECT_FALSE(by_name("std", {1}));
  EXPECT_EQ(by_name("skew", {1, 2, 3}), 0);
  EXPECT_FALSE(by_name("skew", {1, 2}));
}

TEST(Aggregates, PercentilesInterpolate) {
  EXPECT_DOUBLE_EQ(by_name("p90", {0, 10}).value(), 9);
  EXPECT_EQ(by_name("p100", {3, 1, 2}), 3);
}

TEST(Aggregates, InfinitiesHaveAMedian) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(by_name("median", {-kInfinity, -kInfinity}), -kInfinity);
}

TEST(Aggregates, TheUnitScalesWhatHasOne) {
  EXPECT_EQ(by_name("sum", {1500, 500}, 1e3), 2);
  EXPECT_EQ(by_name("var", {1000, 3000}, 1e3), 2);
  EXPECT_EQ(by_name("count", {1500, 500}, 1e3), 2);
}

TEST(Aggregates, NothingComesOfNothing) {
  EXPECT_FALSE(by_name("mean", {}));
  EXPECT_FALSE(by_name("max", {std::nullopt}));
  EXPECT_EQ(by_name("sum", {}), 0);
}

TEST(Aggregates, UnknownAndRepeatedNamesAreRefused) {
  EXPECT_THROW(by_name("average", {}), Error);
  EXPECT_THROW(by_name("p101", {}), Error);
  EXPECT_THROW(static_cast<void>(parse_aggregates(std::vector<std::string>{"min", "min"})), Error);
}

}  // namespace
}  // namespace tracelens
