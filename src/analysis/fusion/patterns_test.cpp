#include "analysis/fusion/patterns.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tracelens {
namespace {

using Ops = std::vector<std::string_view>;

TEST(ChainPatterns, NameAndOpsTogetherSayMost) {
  const Ops norm = {"aten::copy_", "aten::pow",   "aten::mean",
                    "aten::add",   "aten::rsqrt", "aten::mul"};
  const ChainPattern both = pattern_of("nn.Module: Qwen2RMSNorm", norm, ProgramPhase::kForward);
  EXPECT_EQ(both.name, "norm");
  EXPECT_TRUE(both.by_name && both.by_ops);
  const ChainPattern by_ops = pattern_of("nn.Module: Block", norm, ProgramPhase::kForward);
  EXPECT_EQ(by_ops.name, "norm");
  EXPECT_FALSE(by_ops.by_name);
}

TEST(ChainPatterns, OpsInPlaceAndOfTheBackwardPassCount) {
  const Ops gelu = {"aten::mul", "aten::tanh_backward", "aten::add_"};
  EXPECT_TRUE(pattern_of("nn.Module: MLP", gelu, ProgramPhase::kBackward).by_ops);
  EXPECT_FALSE(pattern_of("nn.Module: MLP", gelu, ProgramPhase::kForward).by_ops);
  EXPECT_EQ(pattern_of("nn.Module: Attention", Ops{"aten::mul", "aten::add", "aten::neg"},
                       ProgramPhase::kForward)
                .name,
            "rotary embedding");
}

TEST(ChainPatterns, OthersHaveNoName) {
  const ChainPattern none =
      pattern_of("nn.Module: Head", Ops{"aten::exp", "aten::sub"}, ProgramPhase::kForward);
  EXPECT_TRUE(none.name.empty());
  EXPECT_FALSE(none.by_name || none.by_ops);
}

}  // namespace
}  // namespace tracelens
