#include "report/sinks/unique_names.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(UniqueNames, ShortNamesStayAsTheyAre) {
  UniqueNames names{31};
  EXPECT_EQ(names.add("ops"), "ops");
  EXPECT_EQ(names.add("ops_2"), "ops_2");
}

TEST(UniqueNames, RepeatedNamesAreNumberedWhateverTheirCase) {
  UniqueNames names{31};
  EXPECT_EQ(names.add("ops"), "ops");
  EXPECT_EQ(names.add("OPS"), "OPS_2");
  EXPECT_EQ(names.add("ops_2"), "ops_2_2");
  EXPECT_EQ(names.add("ops"), "ops_3");
}

TEST(UniqueNames, LongNamesAreCutAndTheNumberStillFits) {
  UniqueNames names{31};
  const std::string name = "InferenceAttention_fwd_kl_overlap";
  EXPECT_EQ(names.add(name), "InferenceAttention_fwd_kl_overl");
  EXPECT_EQ(names.add(name), "InferenceAttention_fwd_kl_ove_2");
}

TEST(CutUtf16, CountsAsExcelDoesAndKeepsCodePointsWhole) {
  EXPECT_EQ(cut_utf16("abc", 3), "abc");
  EXPECT_EQ(cut_utf16("µµµ", 2), "µµ");
  EXPECT_EQ(cut_utf16("a🚀b", 2), "a");
  EXPECT_EQ(cut_utf16("a🚀b", 3), "a🚀");
}

}  // namespace
}  // namespace tracelens
