#include "database/plain_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracelens::db {
namespace {

TEST(PlainNames, SignsAreSpelledAndTheRestIsOneUnderscore) {
  EXPECT_EQ(plain_name("Kernel duration (\u00b5s)_sum"), "kernel_duration_us_sum");
  EXPECT_EQ(plain_name("TB/s_mean"), "tb_per_s_mean");
  EXPECT_EQ(plain_name("Percentage (%)"), "percentage_pct");
  EXPECT_EQ(plain_name("time ms"), "time_ms");
  EXPECT_EQ(plain_name("  ** "), "column");
}

TEST(PlainNames, WhatRepeatsIsNumbered) {
  const ColumnSpec columns[] = {
      {"Name", Kind::kText, "", ""}, {"name", Kind::kText, "", ""}, {"name!", Kind::kText, "", ""}};
  EXPECT_THAT(plain_names(Table{"t", "", columns}),
              testing::ElementsAre("name", "name_2", "name_3"));
}

}  // namespace
}  // namespace tracelens::db
