#include "analysis/diff_names.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(NormalizedName, ForgetsAddressesAndLineNumbers) {
  EXPECT_EQ(normalized_name("foo 0xDEADBEEF"), "foo 0xXXXX");
  EXPECT_EQ(normalized_name("/src/train.py(128): forward"), "/src/train.py: forward");
  EXPECT_EQ(normalized_name("f(12)"), "f(12)");
}

TEST(NormalizedName, StripsFunctionAndFolderOnRequest) {
  EXPECT_EQ(normalized_name("/src/train.py(128): forward", Strip::kFunction), "train.py");
  EXPECT_EQ(normalized_name("/proj/layer.py(42): matmul : extra", Strip::kFunction),
            "/proj/layer.py: matmul ");
}

TEST(NormalizedName, ModuleLaunchesOfBothVendorsAreOneCall) {
  EXPECT_EQ(normalized_name("hipModuleLaunchKernel"), normalized_name("cuLaunchKernel"));
  EXPECT_NE(normalized_name("hipLaunchKernel"), normalized_name("cudaLaunchKernel"));
}

TEST(WithoutLineNumbers, DropsNumbersInParenthesesOnly) {
  EXPECT_EQ(without_line_numbers("a.py(12): f(x) (7)"), "a.py: f(x) ");
}

}  // namespace
}  // namespace tracelens
