#include "perf/other/triton.hpp"

#include <gtest/gtest.h>

#include "perf/registry/test_call.hpp"

namespace tracelens::perf {
namespace {

using Ops = std::vector<std::string>;

TEST(Triton, NameSplitsIntoTheLongestKnownOps) {
  EXPECT_EQ(fused_ops("triton_poi_fused__unsafe_view_mul_silu_2"),
            (Ops{"_unsafe_view", "mul", "silu"}));
  EXPECT_EQ(fused_ops("triton_per_fused_native_layer_norm_backward_0"),
            (Ops{"native_layer_norm_backward"}));
}

TEST(Triton, OneUnknownWordLeavesNoOps) {
  EXPECT_EQ(fused_ops("triton_red_fused_add_fmha_v3_fwd_0"), Ops{});
  EXPECT_EQ(fused_ops("triton_poi_fused_add"), Ops{});  // no number at the end
  EXPECT_EQ(fused_ops("triton_poi_0"), Ops{});
}

TEST(Triton, HostileNamesEnd) {
  std::string name = "triton_poi_fused_";
  for (int i = 0; i < 100000; ++i) name += "add_";
  EXPECT_EQ(fused_ops(name + "0"), Ops{});
  EXPECT_EQ(fused_ops("triton_poi_fused_______0"), Ops{});
}

TEST(Triton, KernelWithoutRecordedArgumentsHasNoModel) {
  EXPECT_EQ(TestCall("triton_poi_fused_add_0", "", "").work().reason().kind,
            Reason::Kind::kNoModel);
  EXPECT_EQ(
      TestCall("triton_poi_fused_add_0", "[[8]]", R"(["float"])", R"([""])").work().reason().kind,
      Reason::Kind::kNoModel);
}

TEST(Triton, OurEditionKnowsTheSizesOfPlainTypes) {
  const TestCall call{"triton_poi_fused_add_0", "[[8], [8], []]", R"(["float", "float", "Scalar"])",
                      R"(["", "", "8"])"};
  EXPECT_EQ(call.work()->bytes, 0);
  EXPECT_EQ(call.corrected()->bytes, 2 * 8 * 4);
  EXPECT_EQ(call.corrected()->compute_spec, "vector_fp32");
}

TEST(Triton, OurEditionCountsBothLoopsOfATwoDimensionalKernel) {
  const TestCall call{"triton_poi_fused_add_0", "[[4, 8], [4, 8], [], []]",
                      R"(["float", "float", "Scalar", "Scalar"])", R"(["", "", "4", "8"])"};
  EXPECT_EQ(call.work()->flops, 8);
  EXPECT_EQ(call.corrected()->flops, 32);
}

}  // namespace
}  // namespace tracelens::perf
