#include "analysis/diff/names.hpp"

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

TEST(HloName, TheLineOfTheSourceDoesNotCount) {
  EXPECT_EQ(hlo_name("dot.3 (jit(f)/jit(main)/mul, model.py:31)"), "dot.3 (jit(f)/jit(main)/mul)");
  EXPECT_EQ(hlo_name("dot.3 (model.py:31)"), "dot.3");
  EXPECT_EQ(hlo_name("dot.3 (x)"), "dot.3 (x)");
  EXPECT_EQ(hlo_name("dot.3"), "dot.3");
  EXPECT_EQ(hlo_name("loop_fusion.kd"), "loop_fusion");
}

TEST(HloName, StrippedItIsKindAndScopeWhateverCompilersNumberAndWrap) {
  EXPECT_EQ(hlo_name("cudnn-conv.1 (jit(f)/conv, a.py:23)", Strip::kFunction),
            hlo_name("cudnn-conv.1.0 (jit(f)/jit(main)/conv, b.py:7)", Strip::kFunction));
  EXPECT_NE(hlo_name("dot.1 (jit(f)/a, m.py:1)", Strip::kFunction),
            hlo_name("dot.1 (jit(f)/b, m.py:1)", Strip::kFunction));
}

TEST(WithoutLineNumbers, DropsNumbersInParenthesesOnly) {
  EXPECT_EQ(without_line_numbers("a.py(12): f(x) (7)"), "a.py: f(x) ");
}

}  // namespace
}  // namespace tracelens
