#include "table/formula_text.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(FormulaText, WhatASpreadsheetWouldRunIsGuarded) {
  for (const char* const text : {"=cmd|'/c calc'!A1", "+1+cmd", "-2-cmd", "@SUM(A1)", "\t=1",
                                 "\r=1", "=1", "-", "'=1", "''@x"})
    EXPECT_EQ(guarded_text(text), std::string{"'"} + text);
  for (const char* const text : {"", "aten::mm", "-1", "+2.5", "-1e-05", "-inf", "a=b", "'quoted'"})
    EXPECT_EQ(guarded_text(text), text);
}

TEST(FormulaText, TheGuardIsTakenAwayAgain) {
  for (const char* const text : {"=x", "-x", "'=x", "''", "'", "", "x", "'x", "-1", "'-1", "\t"})
    EXPECT_EQ(unguarded_text(guarded_text(text)), text);
}

}  // namespace
}  // namespace tracelens
