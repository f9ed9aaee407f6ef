#include "report/xlsx/xml_text.hpp"
#include "table/markup.hpp"

#include <gtest/gtest.h>

namespace tracelens::xlsx {
namespace {

TEST(XmlText, WhatLooksLikeACodeOfExcelStaysAsItIs) {
  const auto cell = [](std::string_view text) {
    std::string out;
    append_cell_text(out, text);
    return out;
  };
  EXPECT_EQ(cell("a_x0041_b"), "<r><t>a_</t></r><r><t>x0041_b</t></r>");
  EXPECT_EQ(cell("_x00Af_x000a_<"),  // they share an underscore
            "<r><t>_</t></r><r><t>x00Af_</t></r><r><t>x000a_&lt;</t></r>");
  EXPECT_EQ(cell("gemm_x004_ _x00G1_ _x0041"), "<t>gemm_x004_ _x00G1_ _x0041</t>");
}

TEST(XmlText, ColumnsHaveLetters) {
  EXPECT_EQ(column_letters(0), "A");
  EXPECT_EQ(column_letters(25), "Z");
  EXPECT_EQ(column_letters(26), "AA");
  EXPECT_EQ(column_letters(701), "ZZ");
  EXPECT_EQ(column_letters(702), "AAA");
  EXPECT_EQ(column_letters(16'383), "XFD");
}

}  // namespace
}  // namespace tracelens::xlsx
