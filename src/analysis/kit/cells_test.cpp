#include "analysis/kit/cells.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(RoundedMs, HasNoExponent) {
  EXPECT_EQ(rounded_ms(45'100), "0.0451 ms");
  EXPECT_EQ(rounded_ms(94'249'000), "94.2 ms");
  EXPECT_EQ(rounded_ms(999'700'000), "1000 ms");
  EXPECT_EQ(rounded_ms(9'730'400'000), "9730 ms");
  EXPECT_EQ(rounded_ms(50), "0.000050 ms");
  EXPECT_EQ(rounded_ms(0), "0 ms");
}

}  // namespace
}  // namespace tracelens
