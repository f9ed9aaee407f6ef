#include "sqlite/names.hpp"

#include <gtest/gtest.h>

namespace tracelens::db {
namespace {

TEST(SqlNames, QuotesAreDoubled) {
  EXPECT_EQ(quoted_name("a \"b\""), "\"a \"\"b\"\"\"");
  EXPECT_EQ(quoted_text("it's"), "'it''s'");
}

TEST(SqlNames, WhatWouldEndTheStatementIsLeftOut) { EXPECT_EQ(quoted_name({"a\0b", 3}), "\"ab\""); }

TEST(SqlNames, AFileHasNoHost) {
  EXPECT_EQ(address_of_file("/tmp/a b?c#%.db", "mode=ro"),
            "file:///tmp/a%20b%3fc%23%25.db?mode=ro");
  EXPECT_EQ(address_of_file("//tmp/a.db", "mode=ro"), "file:////tmp/a.db?mode=ro");
}

}  // namespace
}  // namespace tracelens::db
