#include <tracelens/table_text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace tracelens {
namespace {

using testing::ElementsAre;

template <class T>
std::vector<std::string> formatted(ColumnSpec spec, std::initializer_list<T> cells) {
  Table table{"t", "", {&spec, 1}};
  for (const T& cell : cells) table.add_row(cell);
  const HumanFormat format{table.columns()[0]};
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < table.rows(); ++row) texts.push_back(format(row));
  return texts;
}

TEST(HumanFormat, PercentHasTwoDecimals) {
  EXPECT_THAT(formatted({"p", Kind::kReal, "%", ""}, {63.7129, 0.0, 100.0}),
              ElementsAre("63.71", "0.00", "100.00"));
}

TEST(HumanFormat, ChangesHaveTheirSign) {
  EXPECT_THAT(formatted({"diff_pct", Kind::kReal, "%", ""}, {-77.19, 829.71, 0.0}),
              ElementsAre("-77.2%", "+829.7%", "0.0%"));
  EXPECT_THAT(formatted({"difference", Kind::kReal, "ms", ""}, {11.2931, -76.78, 0.0}),
              ElementsAre("+11.293", "-76.780", "0.000"));
  EXPECT_THAT(formatted({"Count__new_diff", Kind::kInteger, "", ""}, {1234, -1, 0}),
              ElementsAre("+1,234", "-1", "0"));
  EXPECT_EQ(shown_unit({"new change", Kind::kReal, "%", ""}), "");
  EXPECT_THAT(formatted({"overlap_pct", Kind::kReal, "%", ""}, {5.0}), ElementsAre("5.00"));
}

TEST(HumanFormat, TimesShareTheDecimalsThatTheLargestNeeds) {
  EXPECT_THAT(formatted({"t", Kind::kReal, "µs", ""}, {1.5, 0.25}), ElementsAre("1.500", "0.250"));
  EXPECT_THAT(formatted({"t", Kind::kReal, "ms", ""}, {100.0, 0.25}),
              ElementsAre("100.00", "0.25"));
  EXPECT_THAT(formatted({"t", Kind::kReal, "µs", ""}, {1234567.0, 0.25}),
              ElementsAre("1,234,567.0", "0.2"));
}

TEST(HumanFormat, OtherRealsHaveFourSignificantDigits) {
  EXPECT_EQ(four_digits(12345.6), "12,346");
  EXPECT_EQ(four_digits(-1.23456), "-1.235");
  EXPECT_EQ(four_digits(123.456), "123.5");
  EXPECT_EQ(four_digits(0.00123456), "0.001235");
  EXPECT_EQ(four_digits(1.23456e15), "1.235e+15");
  EXPECT_EQ(four_digits(0), "0");
  EXPECT_EQ(four_digits(std::numeric_limits<double>::infinity()), "inf");
}

TEST(HumanFormat, CountsAreIntegersAlsoWhenTheyWereAveraged) {
  EXPECT_THAT(formatted({"calls per step", Kind::kReal, "", ""}, {102.0, 4.0}),
              ElementsAre("102", "4"));
  EXPECT_THAT(formatted({"calls per step", Kind::kReal, "", ""}, {102.5, 4.0}),
              ElementsAre("102.5", "4.000"));
}

TEST(HumanFormat, AShareOfAChangeIsNoChange) {
  EXPECT_THAT(formatted({"share_of_change", Kind::kReal, "%", ""}, {12.0}), ElementsAre("12.00"));
}

TEST(HumanFormat, AFewBytesAreNotShownAsAPowerOfAMegabyte) {
  EXPECT_THAT(formatted({"size", Kind::kReal, "MiB", ""}, {3.815e-06, 250.5}),
              ElementsAre("<0.0001", "250.5"));
}

TEST(HumanFormat, IntegersHaveSeparatorsUnlessTheyAreNames) {
  EXPECT_THAT(formatted({"n", Kind::kInteger, "", ""}, {999, 1000, -1234567}),
              ElementsAre("999", "1,000", "-1,234,567"));
  EXPECT_THAT(formatted({"pid", Kind::kInteger, "id", ""}, {1234567}), ElementsAre("1234567"));
}

TEST(HumanFormat, MissingCellsAreEmptyAndBoolsAreWords) {
  EXPECT_THAT(formatted<Cell>({"b", Kind::kBool, "", ""}, {true, false, kMissing}),
              ElementsAre("yes", "no", ""));
}

TEST(HumanFormat, TextStandsOnOneLineWithoutControlCharacters) {
  EXPECT_THAT(formatted({"s", Kind::kText, "", ""}, {"a\nb", "\x1b[31mred"}),
              ElementsAre("a b", "\ufffd[31mred"));
  EXPECT_THAT(formatted({"d", Kind::kNested, "", ""}, {Value::tuple({8})}), ElementsAre("(8,)"));
}

TEST(HumanFormat, UnitIsShownUnlessTheNameTellsIt) {
  EXPECT_EQ(shown_unit({"time", Kind::kReal, "ms", ""}), "ms");
  EXPECT_EQ(shown_unit({"params", Kind::kReal, "ms", ""}), "ms");
  EXPECT_EQ(shown_unit({"time_ms", Kind::kReal, "ms", ""}), "");
  EXPECT_EQ(shown_unit({"Kernel Time (µs)_sum", Kind::kReal, "µs", ""}), "");
  EXPECT_EQ(shown_unit({"pid", Kind::kInteger, "id", ""}), "");
  EXPECT_EQ(shown_unit({"name", Kind::kText, "", ""}), "");
}

}  // namespace
}  // namespace tracelens
