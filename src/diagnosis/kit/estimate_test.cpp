#include "diagnosis/kit/estimate.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(Estimate, TheLargerIsTold) {
  EXPECT_EQ((Estimate{.path_ns = 100, .arithmetic_ns = 140}.expected_ns()), 140);
  EXPECT_EQ((Estimate{.path_ns = 100, .arithmetic_ns = 200}.expected_ns()), 200);
  EXPECT_EQ((Estimate{.path_ns = 600, .arithmetic_ns = 100}.expected_ns()), 600);
  EXPECT_EQ((Estimate{}.expected_ns()), 0);
}

TEST(Estimate, TheyAgreeWithinAFactor) {
  EXPECT_TRUE((Estimate{.path_ns = 100, .arithmetic_ns = 150}.agree()));
  EXPECT_FALSE((Estimate{.path_ns = 100, .arithmetic_ns = 151}.agree()));
}

}  // namespace
}  // namespace tracelens
