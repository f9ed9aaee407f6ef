#include "sqlite/names.hpp"

#include <gtest/gtest.h>

namespace tracelens::db {
namespace {

TEST(SqlNames, QuotesAreDoubled) {
  EXPECT_EQ(quoted_name("a \"b\""), "\"a \"\"b\"\"\"");
  EXPECT_EQ(quoted_text("it's"), "'it''s'");
}

TEST(SqlNames, WhatWouldEndTheStatementIsLeftOut) { EXPECT_EQ(quoted_name({"a\0b", 3}), "\"ab\""); }

}  // namespace
}  // namespace tracelens::db
