#include "facts/kernel_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tracelens/error.hpp>

namespace tracelens {
namespace {

using testing::HasSubstr;

struct Example {
  const char *kernel, *category;
};

TEST(KernelRules, KnowTheKernelsOfTheUsualLibraries) {
  const Example examples[] = {
      {"nvjet_sm90_tst_128x128_64x6_2x4_h_bz_NTT", "gemm"},
      {"Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x64x32", "gemm"},
      {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x128x8", "gemm"},
      {"sm80_xmma_dgrad_implicit_gemm_indexed_bf16bf16", "convolution"},
      {"igemm_wrw_gtcx3_nhwc_bf16_bx0_ex1_bt64x64x64", "convolution"},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26", "attention_bwd"},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7", "attention_fwd"},
      {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128>", "attention_fwd"},
      {"void pytorch_flash::flash_bwd_dot_do_o_kernel<true>", "attention_bwd"},
      {"attn_fwd", "attention_fwd"},
      {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "communication"},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>",
       "normalization"},
      {"MIOpenBatchNormBwdSpatial", "normalization"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>",
       "elementwise"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>",
       "memory"},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>", "reduce"},
      {"void at::native::radixSortKVInPlace<2, -1, 32, 32>", "sort"},
      {"void at::native::vectorized_gather_kernel<16, long>", "index"},
      {"triton_per_fused__to_copy_add_native_layer_norm_backward_view_10", "triton"},
      {"Memcpy DtoD (Device -> Device)", "memory"},
      {"some_kernel_of_my_own", "other"},
  };
  for (const Example& example : examples)
    EXPECT_EQ(KernelRules::built_in().category(example.kernel), example.category) << example.kernel;
}

TEST(KernelRules, TheUsersComeFirstOrStandAlone) {
  const KernelRules more = KernelRules::built_in().extended_by(
      R"({"rules": [{"category": "mine", "pattern": "^nvjet_sm90"}]})", "my.json");
  EXPECT_EQ(more.category("nvjet_sm90_x"), "mine");
  EXPECT_EQ(more.category("nvjet_sm80_x"), "gemm");
  const KernelRules only = KernelRules::built_in().extended_by(
      R"({"replace": true, "rules": [{"category": "mine", "pattern": "a"}]})", "my.json");
  EXPECT_EQ(only.category("nvjet_sm80_x"), "other");
}

std::string error_of(std::string_view json) {
  try {
    static_cast<void>(KernelRules::built_in().extended_by(json, "my.json"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(KernelRules, AWrongFileIsAnErrorThatNamesTheRule) {
  EXPECT_THAT(error_of("[]"), HasSubstr("my.json: expected a JSON object"));
  EXPECT_THAT(error_of(R"({"rules": [{"category": "a", "pattern": "b"}, {"pattern": "c"}]})"),
              HasSubstr("rule 2: expected a text \"category\""));
  EXPECT_THAT(error_of(R"({"rules": [{"category": "a", "pattern": "("}]})"),
              HasSubstr("rule 1: \"pattern\": missing"));
  EXPECT_THAT(error_of(R"({"rules": [], "replace": 1})"), HasSubstr("\"replace\""));
}

}  // namespace
}  // namespace tracelens
