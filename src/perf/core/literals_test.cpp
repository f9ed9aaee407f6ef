#include "perf/core/literals.hpp"

#include <gtest/gtest.h>

namespace tracelens::perf {
namespace {

TEST(Literals, NumbersAreReadWhole) {
  EXPECT_EQ(parse_int(" -7 "), -7);
  EXPECT_EQ(parse_int("7x"), std::nullopt);
  EXPECT_EQ(parse_int("7.5"), std::nullopt);
  EXPECT_EQ(parse_int(""), std::nullopt);
  EXPECT_EQ(parse_int("99999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_real("0."), 0.0);
  EXPECT_EQ(parse_real("1.0000000000000001e-05"), 1e-5);
}

TEST(Literals, ListsHoldOneKindOfValue) {
  EXPECT_EQ(parse_ints("[1, -2]"), (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(parse_ints("[]"), std::vector<std::int64_t>{});
  EXPECT_EQ(parse_ints("[1, x]"), std::nullopt);
  EXPECT_EQ(parse_ints("[1"), std::nullopt);
  EXPECT_EQ(parse_ints("1, 2"), std::nullopt);
  EXPECT_EQ(parse_bools("[True, False]"), (std::vector<bool>{true, false}));
  EXPECT_EQ(parse_reals("[2., 0.5]"), (std::vector<double>{2, 0.5}));
}

TEST(Literals, NothingIsEvaluated) {
  EXPECT_EQ(parse_bool("1 == 1"), std::nullopt);
  EXPECT_EQ(parse_bool("not False"), std::nullopt);
  EXPECT_EQ(parse_ints("[1] * 3"), std::nullopt);
}

}  // namespace
}  // namespace tracelens::perf
