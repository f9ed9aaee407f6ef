#include "table/shapes.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(Shapes, AreWrittenAsPeopleSayThem) {
  EXPECT_EQ(shapes_text("((4096, 8192), (8192, 1024))"), "4096x8192 8192x1024");
  EXPECT_EQ(shapes_text("((8, 1024, 768), (768,), (), ())"), "8x1024x768 768");
  EXPECT_EQ(shapes_text("[[4, 2], []]"), "4x2");
}

TEST(Shapes, AListOfTensorsIsTheirNumber) {
  EXPECT_EQ(shapes_text("(((8, 12), (8, 12), (8, 12)), ())"), "3 tensors");
}

TEST(Shapes, WhatIsNoShapeGivesNothing) {
  for (const char* const text : {"", "()", "((), ())", "scalar", ")))((((", "12"})
    EXPECT_EQ(shapes_text(text), "") << text;
}

}  // namespace
}  // namespace tracelens
