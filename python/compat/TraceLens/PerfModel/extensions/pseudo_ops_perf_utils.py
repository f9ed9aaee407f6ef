"""The ops of serving engines: name -> model, and name -> category for those without a model."""

from . import attention_perf_model_extensions as attention
from . import custom_collectives_perf_model_extensions as collectives
from . import moe_perf_model_extensions as moe
from . import perf_model_extensions as more
from . import rmsnorm_perf_model_extensions as rmsnorm
from .._models.norm import GroupNorm

_A8W8 = (
    "sglang_profiler::fp8_utils_gemm_a8w8_blockscale",
    "sglang_profiler::gemm_a8w8_blockscale_gemm_a8w8_blockscale",
    "vllm::rocm_aiter_triton_gemm_a8w8_blockscale",
    "aiter::gemm_a8w8_blockscale_ck",
    "aiter::gemm_a8w8_blockscale_cktile",
    "aiter::gemm_a8w8_blockscale_bpreshuffle_ck",
    "aiter::gemm_a8w8_blockscale_bpreshuffle_cktile",
    "aiter::flatmm_a8w8_blockscale_asm",
    "aiter::gfx950_a8w8_blockscale_asm",
    "aiter::gemm_a8w8_ck",
    "aiter::gemm_a8w8_bpreshuffle_ck",
    "aiter::gemm_a8w8_bpreshuffle",
    "vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm",
)
_BATCHED_A8W8 = "batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant"

# In the order in which reports show their sheets.
_MODELS = {
    "pseudo_op::moe_aiter_fused_1stage": moe.moe_aiter_fused_1stage,
    "aiter::moe_cktile2stages_gemm1_ck": moe.moe_aiter_unfused_up,
    "aiter::moe_cktile2stages_gemm2_ck": moe.moe_aiter_unfused_down,
    "aiter::ck_moe_stage1": moe.moe_aiter_ck_stage1,
    "aiter::ck_moe_stage2": moe.moe_aiter_ck_stage2,
    "aiter::fmoe_fp8_blockscale_g1u1": moe.moe_aiter_fused_blockscale,
    "aiter::fmoe_g1u1": moe.moe_aiter_fused_blockscale,
    "pseudo_op::moe_triton_unfused_up": moe.moe_triton_unfused_up,
    "pseudo_op::moe_triton_unfused_down": moe.moe_triton_unfused_down,
    "pseudo_op::moe_gptq_awq_up": moe.moe_gptq_awq_up,
    "pseudo_op::moe_gptq_awq_down": moe.moe_gptq_awq_down,
    "pseudo_op::moe_flydsl_stage1": moe.moe_flydsl_stage1,
    "pseudo_op::moe_flydsl_stage2": moe.moe_flydsl_stage2,
    "sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel": moe.moe_triton_invoke_grouped_gemm,
    "aiter::biased_grouped_topk_hip": moe.BiasedGroupedTopk,
    "aiter::moe_sorting_fwd": moe.MoeSortScatterGather,
    "aiter::mxfp4_moe_sort_hip": moe.MoeSortScatterGather,
    "vllm::unified_attention_with_output": attention.vllm_unified_attention_with_output,
    "aiter::mha_varlen_fwd": attention.mha_varlen_fwd,
    "aiter::fmha_v3_varlen_fwd": attention.aiter_fmha_v3_varlen_fwd,
    "aiter::mha_batch_prefill": attention.aiter_mha_batch_prefill,
    "sglang_profiler::attention_paged_attention_ragged": attention.aiter_paged_attention_ragged,
    "pseudo_mla_decode_fwd": attention.mla_decode_fwd,
    "pseudo_mla_prefill_fwd": attention.pseudo_mla_prefill_fwd,
    "aiter::pa_decode_gluon": attention.pa_decode_gluon,
    "pseudo_v4_paged_decode_swa": attention.pseudo_v4_paged_decode_swa,
    "pseudo_v4_paged_decode_csa": attention.pseudo_v4_paged_decode_csa,
    "pseudo_v4_paged_decode_hca": attention.pseudo_v4_paged_decode_hca,
    "aiter::pa_sparse_prefill_opus_fwd": attention.pa_sparse_prefill_opus_fwd,
    "sglang_profiler::tilelang_kernel_tilelang_sparse_fwd": attention.mla_tilelang_sparse_fwd,
    "aiter::batched_gemm_a16wfp4_": more.batched_gemm_a16wfp4,
    "aiter::dynamic_per_token_scaled_quant": more.per_group_quant,
    "aiter::dynamic_per_group_scaled_quant": more.per_group_quant,
    "aiter::fused_add_rmsnorm_pad_": rmsnorm.vllm_rocm_aiter_triton_add_rmsnorm_pad,
    "aiter::mixed_sample_outer_exponential": more.mixed_sample_outer_exponential,
    **dict.fromkeys(_A8W8, more.gemm_a8w8_blockscale),
    "vllm::rocm_unquantized_gemm": more.vllm_rocm_unquantized_gemm,
    "aiter::gemm_a16w16": more.gemm_a16w16,
    "aiter::fused_dynamic_mx_quant_moe_sort_hip": more.fused_dynamic_mx_quant_moe_sort_hip,
    "aiter::fused_qk_rope_concat_and_cache_mla": more.fused_qk_rope_concat_and_cache_mla,
    "aiter::gemm_a16w16_atomic_": more.gemm_a16w16_atomic_,
    "aiter::_gemm_a16w16_asm": more.gemm_a16w16_asm,
    "sglang_profiler::gemm_kernels_flydsl_hgemm": more.gemm_a16w16_atomic_,
    "aiter::gemm_afp4wfp4_": more.gemm_afp4wfp4,
    f"sglang_profiler::{_BATCHED_A8W8}_{_BATCHED_A8W8}": more.batched_gemm_a8w8,
    "vllm::triton_per_token_group_quant_fp8": more.vllm_triton_per_token_group_quant_fp8,
    "sglang_profiler::fused_mxfp4_quant_fused_flatten_mxfp4_quant": more.fused_flatten_mxfp4_quant,
    "aiter::dynamic_per_tensor_quant": more.per_group_quant,
    "aiter::rope_cached_positions_2c_fwd_impl": more.aiter_rope_cached_positions_2c_fwd_impl,
    "sgl_kernel::rotary_embedding": more.sgl_kernel_rotary_embedding,
    "aiter::silu_and_mul": more.aiter_silu_and_mul,
    "_C::silu_and_mul": more.aiter_silu_and_mul,
    "sgl_kernel::silu_and_mul": more.sgl_kernel_silu_and_mul,
    "aiter::gelu_and_mul": more.aiter_gelu_and_mul,
    "aiter::gelu_tanh_and_mul": more.aiter_gelu_tanh_and_mul,
    "aiter::rms_norm": rmsnorm.aiter_rms_norm,
    "aiter::rmsnorm": rmsnorm.aiter_rmsnorm,
    "aiter::rmsnorm2d_fwd_ck": rmsnorm.aiter_rms_norm,
    "aiter::rmsnorm2d_fwd_with_add_ck": rmsnorm.aiter_rmsnorm2d_fwd_with_add_ck,
    "aiter::add_rmsnorm": rmsnorm.aiter_rmsnorm2d_fwd_with_add_ck,
    "aiter::rmsnorm2d_fwd_with_dynamicquant_ck": rmsnorm.aiter_rmsnorm2d_fwd_with_dynamicquant_ck,
    "vllm::rocm_aiter_rmsnorm_fp8_group_quant": rmsnorm.vllm_rocm_aiter_rmsnorm_fp8_group_quant,
    "vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant": rmsnorm.vllm_rocm_aiter_rmsnorm_with_add_fp8_group_quant,
    "vllm::rocm_aiter_triton_add_rmsnorm_pad": rmsnorm.vllm_rocm_aiter_triton_add_rmsnorm_pad,
    "sglang_profiler::fused_mxfp4_quant_fused_rms_mxfp4_quant": rmsnorm.fused_rms_mxfp4_quant,
    "aiter::_fuse_rmsnorm_fp4_quant": rmsnorm.fused_rms_mxfp4_quant,
    "aiter::fused_allreduce_rmsnorm": collectives.aiter_fused_allreduce_rmsnorm,
    "aiter::fused_allreduce_rmsnorm_": collectives.aiter_fused_allreduce_rmsnorm_,
    "_C_custom_ar::all_reduce": collectives.custom_ar_all_reduce,
    "aiter::reduce_scatter": collectives.aiter_reduce_scatter,
    "aiter::all_gather_reg": collectives.aiter_all_gather_reg,
    "sgl_kernel::all_reduce_reg": collectives.sgl_kernel_all_reduce_reg,
    "sgl_kernel::qr_all_reduce": collectives.sgl_kernel_qr_all_reduce,
    "sglang::reg_all_gather_into_tensor": collectives.sgl_kernel_reg_all_gather_into_tensor,
    "_C_custom_ar::qr_all_reduce": collectives.custom_ar_qr_all_reduce,
    "vllm::gdn_attention_core": attention.gdn_attention_core,
    "aiter::linear_attention_with_output_base": attention.gdn_attention_core,
    "sglang::store_cache": more.sglang_store_cache,
    "aiter::fused_qk_rope_cat_and_cache_mla": more.aiter_fused_qk_rope_cat_and_cache_mla,
    "sglang_profiler::fused_moe_triton_kernels_fused_append_shared_experts": moe.sglang_fused_append_shared_experts,
    "sglang_profiler::quant_dynamic_mxfp4_quant": more.sglang_quant_dynamic_mxfp4_quant,
    "aiter::fused_dynamic_mxfp4_quant_moe_sort_hip": more.aiter_fused_dynamic_mxfp4_quant_moe_sort_hip,
    "aiter::dynamic_per_group_scaled_quant_fp4": more.aiter_dynamic_per_group_scaled_quant_fp4,
    "aiter::_gemm_a8w8_blockscale_bpreshuffle_asm": more.gemm_a8w8_blockscale,
    "aiter::mhc_post": more.mhc_post,
    "aiter::mhc_pre_gemm_sqrsum": more.mhc_pre_gemm_sqrsum,
    "aiter::mhc_pre_big_fuse_rmsnorm": more.mhc_pre_big_fuse_rmsnorm,
    "aiter::mhc_fused_post_pre_gemm_sqrsum": more.mhc_fused_post_pre_gemm_sqrsum,
    "aiter::topk_softplus": more.topk_softplus,
    "aiter::rmsnorm_quant": rmsnorm.aiter_rmsnorm_quant,
    "aiter::_groupnorm_run": GroupNorm,
}

_V4 = {
    "_inverse_rope_gptj_kernel": "FusedRoPE",
    "_update_compressor_states_kernel": "InferenceAttention",
    "_swa_write_kernel": "InferenceAttention",
    "qk_norm_rope_H32_D512_RD64_flydsl": "FusedRoPE",
    "qk_norm_rope_H64_D512_RD64_flydsl": "FusedRoPE",
    "hca_norm_rope_scatter_D512_RD64_R128_KB1_rmsbf16_flydsl": "FusedRoPE",
    "fused_compress_attn_D512_RD64_R4_OVL_SS8_KB32_rmsbf16_pf_flydsl": "InferenceAttention",
    "fused_compress_attn_D128_RD64_R4_OVL_SS8_KB32_Q_ue8m0_psh_rmsbf16_pf_flydsl": "InferenceAttention",
    "hca_compress_forward_D512_R128_NW4_SL256_S128_flydsl": "InferenceAttention",
    "hca_compress_forward_D512_R128_NW8_SL128_S128_flydsl": "InferenceAttention",
}
_ALLGATHER = ("aiter::allgather_lastdim<std::bfloat16_t, {}>(aiter::RankData*, aiter::RankSignals, aiter::Signal*, "
              "std::bfloat16_t*, int, int, int) (Synthetic Op)")

_CATEGORIES = {
    "aiter::fused_dynamic_mxfp4_quant_moe_sort_hip": "MoE_aux",
    "aiter::unified_attention_with_output_base->_fused_qk_rope_reshape_and_cache_kernel (Synthetic Op)": "FusedRoPE",
    "hipModuleLaunchKernel->kv_indices_generate_kernel (Synthetic Op)": "InferenceAttention",
    "aiter::get_mla_metadata_v1": "InferenceAttention",
    "aiter::indexer_score_topk": "InferenceAttention",
    **{f"aiter::v4_attention_with_output->{kernel} (Synthetic Op)": category for kernel, category in _V4.items()},
    **{_ALLGATHER.format(ranks): "CustomCollective" for ranks in (2, 4)},
}


def get_pseudo_op_mappings():
    """Op name -> model class, a copy."""
    return dict(_MODELS)


def get_pseudo_op_category_only_mappings():
    """Op name -> category of ops without a model of their own (or with another category), a copy."""
    return dict(_CATEGORIES)
