#include "diagnosis/kit/figures.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(Figures, HaveThreeDigitsOrOneDecimal) {
  EXPECT_EQ(figure(619.045, "ms"), "619.0 ms");
  EXPECT_EQ(figure(51.13, "%"), "51.1%");
  EXPECT_EQ(figure(8.666, "%"), "8.67%");
  EXPECT_EQ(figure(0.01234, "ms"), "0.0123 ms");
  EXPECT_EQ(figure(0, "ms"), "0 ms");
}

TEST(Figures, CountsAreWhole) {
  EXPECT_EQ(figure(1184, ""), "1184");
  EXPECT_EQ(figure(12, ""), "12");
  EXPECT_EQ(figure(2.5, ""), "2.50");
}

TEST(Figures, OneIsNotSeveral) {
  EXPECT_EQ(counted(1, "step"), "1 step");
  EXPECT_EQ(counted(0, "step"), "0 steps");
}

}  // namespace
}  // namespace tracelens
