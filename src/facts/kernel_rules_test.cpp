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
      {"CopyHostToDevice", "memory"},
      {"CopyDeviceToDevice2D", "memory"},
      {"FillBuffer", "memory"},
      {"some_kernel_of_my_own", "other"},
  };
  for (const Example& example : examples)
    EXPECT_EQ(KernelRules::built_in().category(example.kernel), example.category) << example.kernel;
}

// Names that have the words of a pattern in another place, or other letters that fold to its own.
TEST(KernelRules, AreThoseOfTheExpressionsWhateverTheWords) {
  const KernelRules rules{{{"a", "(?i)soft_?max|^k(ernel)?_end$"}, {"b", "[kK]ernel"}}, "test"};
  EXPECT_EQ(rules.category("SoftMax"), "a");
  EXPECT_EQ(rules.category("soft and max, the kernel"), "b");
  EXPECT_EQ(rules.category("K_END"), "a");
  EXPECT_EQ(rules.category("my K_END"), kOtherKernel);
  EXPECT_EQ(rules.category("\u017foftmax"), "a");  // a long s
}

TEST(KernelRules, BuiltInOnesAreRight) {
  bool replaces = false;
  const auto rules = parse_kernel_rules(built_in_kernel_rules(), "built in", replaces);
  EXPECT_NO_THROW(KernelRules(rules, "built in"));
}

TEST(KernelRules, KnowTheKernelsOfServingEngines) {
  const Example examples[] = {
      {"void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, __hip_bfloat16>", "kv_cache"},
      {"void (anonymous namespace)::store_kvcache<2048l, 4, false, long>", "kv_cache"},
      {"void vllm::concat_and_cache_mla_kernel<unsigned short>", "kv_cache"},
      {"void vllm::paged_attention_v2_kernel<unsigned short, 128>", "attention_fwd"},
      {"kernel_unified_attention_3d", "attention_fwd"},
      {"reduce_segments", "attention_fwd"},
      {"_fwd_grouped_kernel_stage1", "attention_fwd"},
      {"sage_fwd", "attention_fwd"},
      {"hca_compress_forward_D512_R128_NW4_SL256_S128_flydsl", "attention_fwd"},
      {"hca_norm_rope_scatter_D512_RD64_R128_KB1_rmsbf16_flydsl", "rope"},
      {"_update_compressor_states_kernel", "attention_fwd"},
      {"_swa_write_kernel", "attention_fwd"},
      {"void aiter::mhc_post_kernel<c10::BFloat16>", "elementwise"},
      {"mhc_pre_gemm_sqrsum_kernel", "gemm"},
      {"Im3d2Col", "convolution"},
      {"Im2d2Col_v2", "convolution"},
      {"void cutlass::Kernel2<cutlass_80_wmma_bf16>", "gemm"},
      {"_ZN5aiter29mla_a16w16_bf16_subQ16_mqa16E", "attention_fwd"},
      {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0>",
       "attention_fwd"},
      {"void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>", "normalization"},
      {"void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u>", "sampling"},
      {"void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<true>", "rope"},
      {"void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &silu>", "elementwise"},
      {"create_flashinfer_kv_indices_triton", "index"},
      {"void (anonymous namespace)::resolve_future_token_ids_kernel<long>", "index"},
      {"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "moe"},
      {"_finalize_matmul_scatter_bf16", "moe"},
      {"_combined_routing_compute", "moe"},
      {"_sum_bitmatrix_rows", "moe"},
      {"fused_moe_kernel_gptq_awq", "moe"},
      {"_ZN5aiter47fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_32x256E", "moe"},
      {"void ck_tile::kentry<1, ck_tile::MoeSortingMultiPhaseKernel_P23>", "moe"},
      {"void vllm::moe::topkGatingSoftmax<4, 128, 4, 16, 32, int>", "moe"},
      {"void marlin_moe_wna16::Marlin<__nv_bfloat16>", "moe"},
      {"void marlin::Marlin<__nv_bfloat16, 1125899906909960l, 256>", "gemm"},
      {"void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 7168u>", "gemm"},
      {"void wvSplitK_hf_sml_<__hip_bfloat16, 64, 2, 16>", "gemm"},
      {"triton_tem_fused_addmm_12", "gemm"},
      {"triton_tem_fused_flex_attention_0", "attention_fwd"},
      {"void vllm::cross_device_reduce_1stage<__hip_bfloat16, 8>", "communication"},
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<>",
       "communication"},
      {"void vllm::dynamic_per_token_scaled_fp8_quant_kernel<c10::BFloat16>", "quantization"},
      {"_causal_conv1d_update_kernel", "ssm"},
      {"void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<float>",
       "elementwise"},
      {"Im2d2Col_v2", "convolution"},
  };
  for (const Example& example : examples)
    EXPECT_EQ(KernelRules::built_in().category(example.kernel), example.category) << example.kernel;
}

TEST(TorchKernelKinds, APlainNameIsOfAKernelWrittenInPython) {
  const TorchKernelKinds kinds{KernelRules::built_in()};
  EXPECT_EQ(kinds("_my_special_step"), "triton");
  EXPECT_EQ(kinds("kernel_unified_attention_2d"), "attention_fwd");
  EXPECT_EQ(kinds("void mine::special<float>(float*)"), "other");
  EXPECT_EQ(kinds("_ZN4mine7specialE"), "other");
  EXPECT_EQ(kinds(""), "other");
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
