"""Which model an op has, and which category: by its name, and if need be by its first kernel.

`op_to_perf_model_class_map` and `OP_CATEGORY_REGISTRY` are the registries of the whole process; what a program
adds to them counts for every analyzer.
"""

from . import perf_model
from .extensions.pseudo_ops_perf_utils import get_pseudo_op_category_only_mappings, get_pseudo_op_mappings

# Ops that are put into a category but have no model.
CATEGORY_ONLY_OP_MAPPING = {
    "aten::miopen_convolution": "CONV_fwd",
    "aten::cudnn_convolution": "CONV_fwd",
    "FlashAttnFuncBackward": "SDPA_bwd",
    "FusedAttnFuncBackward": "SDPA_bwd",
    "aten::_scaled_dot_product_cudnn_attention_backward": "SDPA_bwd",
    "aten::_scaled_dot_product_efficient_attention_backward": "SDPA_bwd",
    "aten::_scaled_dot_product_flash_attention_backward": "SDPA_bwd",
    "aten::_efficient_attention_forward": "SDPA_fwd",
    "aten::_efficient_attention_backward": "SDPA_bwd",
    "MambaSplitConv1dScanCombinedFnBackward": "SSM_bwd",
    "DaoAILab::_causal_conv1d_bwd_cpp": "SSM_bwd",
    "TokenPermuteMaskMap": "MoE_comm_fwd",
    "_OperationFuserAutogradFunction": "MoE_comm_fwd",
    "MoEDispatchBackward": "MoE_comm_bwd",
    "MoECombineBackward": "MoE_comm_bwd",
    "TokenPermuteMaskMapBackward": "MoE_comm_bwd",
    "_OperationFuserAutogradFunctionBackward": "MoE_comm_bwd",
    "FusedRoPEFuncBackward": "RoPE_bwd",
    "CrossEntropyFunctionBackward": "CrossEntropy_bwd",
    "aiter::moe_sorting_opus_fwd": "MoE_aux",
    "aiter::moe_align_block_size": "MoE_aux",
    "_moe_C::moe_align_block_size": "MoE_aux",
    "aiter::fused_moe_->_fused_dynamic_mxfp4_quant_moe_sort_kernel (Synthetic Op)": "MoE_aux",
    "aiter::moe_sum": "MoE_aux",
    "aiter::topk_softmax": "MoE_aux",
    "aiter::topk_softmax_asm": "MoE_aux",
    "aiter::topk_sigmoid": "MoE_aux",
    "aiter::grouped_topk": "MoE_aux",
    "aiter::moe_fused_gate": "MoE_aux",
    "_C_cache_ops::reshape_and_cache_flash": "InferenceAttention",
    "_C_cache_ops::concat_and_cache_mla": "InferenceAttention",
    **get_pseudo_op_category_only_mappings(),
}

# Ops without a row of their own: by the start of the name, then by the first kernel if it is PyTorch's.
_NAME_STARTS = ("triton", "record_param_comms")
_NATIVE_KERNEL = "void at::native"
_NATIVE_KERNEL_KINDS = ("elementwise", "reduce", "multi_tensor_apply")


def _named(prefixes, ops, model):
    return {prefix + op: model for op in ops for prefix in prefixes}


def _norms(op, model, suffix=""):
    variants = ("aten::", "aten::native_", "aten::miopen_", "aten::cudnn_")
    return {prefix + op + suffix: model for prefix in variants}


def _linear_products():
    modules = ("_Linear", "_LayerNormLinear")
    products = ("_yfwd_mm", "Backward_xgrad_mm", "Backward_wgrad_mm")
    return {module + product: perf_model.tev2_pseudo_gemm for module in modules for product in products}


_TURBO, _TURBO_CPP = "primus_turbo::", "primus_turbo_cpp_extension::"

# In the order in which reports show their sheets.
op_to_perf_model_class_map = {
    "aten::mm": perf_model.aten_mm,
    "aten::addmm": perf_model.aten_addmm,
    "aten::_scaled_mm": perf_model.aten_scaled_mm,
    "trtllm::cublas_scaled_mm": perf_model.aten_scaled_mm,
    "bitsandbytes::int8_linear_matmul": perf_model.aten_scaled_mm,
    "aten::bmm": perf_model.aten_bmm,
    "tex_ts::te_gemm_ts": perf_model.tex_ts_te_gemm_ts,
    "aten::baddbmm": perf_model.aten_baddbmm,
    "vllm::gemm_with_dynamic_quant": perf_model.vllm_gemm_with_dynamic_quant,
    "FlashAttnFunc": perf_model.flash_attention,
    "flash_attn::_flash_attn_forward": perf_model.flash_attention,
    "flash_attn::_flash_attn_backward": perf_model.flash_attention_backward,
    "flash_attn::_flash_attn_varlen_forward": perf_model.flash_attention_varlen_forward,
    "flash_attn::_flash_attn_varlen_backward": perf_model.flash_attention_varlen_backward,
    "aten::_scaled_dot_product_cudnn_attention": perf_model.aten__scaled_dot_product_cudnn_attention,
    "aten::_scaled_dot_product_efficient_attention": perf_model.aten__scaled_dot_product_efficient_attention,
    "aten::_scaled_dot_product_flash_attention": perf_model.aten__scaled_dot_product_flash_attention,
    "aten::convolution": perf_model.aten_conv,
    "aten::convolution_backward": perf_model.aten_conv_bwd,
    "ConvBias_": perf_model.ConvBias_,
    "ConvBiasReLU_": perf_model.ConvBiasReLU_,
    "ConvBias_Backward": perf_model.ConvBias_Backward,
    "ConvBiasReLU_Backward": perf_model.ConvBiasReLU_Backward,
    "aiter::_flash_attn_forward": perf_model.aiter__flash_attn_forward,
    "aiter::_flash_attn_backward": perf_model.aiter__flash_attn_backward,
    "aiter::wrapper_fmha_v3_fwd": perf_model.aiter__fmha_v3_forward,
    "aiter::wrapper_fmha_v3_bwd": perf_model.aiter__fmha_v3_backward,
    "aiter::mha_fwd": perf_model.aiter__mha_fwd,
    "aiter::fmha_v3_fwd": perf_model.aiter__fmha_v3_fwd,
    "aiter::mha_bwd": perf_model.aiter__mha_bwd,
    "flash_attn_3::fwd": perf_model.flash_attn_v3_forward,
    "vllm::unified_attention_with_output": None,  # its place; the model of serving engines follows below
    "EvoformerAttention": perf_model.evoformer_attention,
    "LigerSiLUMulFunction": perf_model.liger_silu_mul_function,
    "primus_turbo::grouped_gemm": perf_model.primus_turbo_grouped_gemm,
    "primus_turbo::grouped_gemm_impl": perf_model.primus_turbo_grouped_gemm,
    "primus_turbo_cpp_extension::grouped_gemm": perf_model.primus_turbo_grouped_gemm,
    "primus_turbo::grouped_gemm_variable_k": perf_model.primus_turbo_grouped_gemm_variable_k,
    "primus_turbo::grouped_gemm_variable_k_impl": perf_model.primus_turbo_grouped_gemm_variable_k,
    "primus_turbo_cpp_extension::grouped_gemm_variable_k": perf_model.primus_turbo_grouped_gemm_variable_k,
    **_linear_products(),
    "primus_turbo_cpp_extension::ck_grouped_gemm": perf_model.primus_turbo_grouped_gemm,
    "primus_turbo_cpp_extension::ck_grouped_gemm_variable_k": perf_model.primus_turbo_grouped_gemm_variable_k,
    "MoEDispatch": perf_model.moe_dispatch,
    "MoECombine": perf_model.moe_combine,
    "DaoAILab::_causal_conv1d_fwd_cpp": perf_model.causal_conv1d_fwd,
    "FusedRoPEFunc": perf_model.fused_rope_fwd,
    "CrossEntropyFunction": perf_model.cross_entropy_fwd,
    "MambaSplitConv1dScanCombinedFn": perf_model.mamba_ssd_fwd,
    **_named((_TURBO_CPP, _TURBO), ("hipblaslt_gemm_fp8",), perf_model.hipblaslt_gemm_fp8),
    **_named((_TURBO_CPP, _TURBO), ("quantize_fp8_tensorwise",), perf_model.primus_turbo_quantize_fp8),
    **_named((_TURBO_CPP, _TURBO), ("hipblaslt_gemm_fp4",), perf_model.hipblaslt_gemm_fp4),
    **_named((_TURBO_CPP, _TURBO, "primus::"), ("quantize_mxfp4_dual",), perf_model.primus_turbo_quantize_mxfp4_dual),
    "aiter::gemm_a4w4": perf_model.aiter_gemm_a4w4,
    "aiter::_gemm_a4w4_asm": perf_model.aiter_gemm_a4w4,
    **get_pseudo_op_mappings(),
    **_named(("aten::",), ("copy", "copy_", "clamp_min", "clamp_min_", "clamp_max", "clamp_max_", "sigmoid", "rsqrt",
                           "silu", "neg", "pow"), perf_model.aten_unary_elementwise),
    **_named(("aten::",), ("div", "div_", "mul", "mul_", "add", "add_", "sigmoid_backward", "threshold_backward"),
             perf_model.aten_binary_elementwise),
    **_norms("batch_norm", perf_model.BatchNorm),
    **_norms("layer_norm", perf_model.LayerNorm),
    **_norms("group_norm", perf_model.GroupNorm),
    **_norms("instance_norm", perf_model.InstanceNorm),
    "aten::_fused_rms_norm": perf_model.RMSNorm,
    **_norms("batch_norm", perf_model.BatchNormBwd, "_backward"),
    **_norms("layer_norm", perf_model.LayerNormBwd, "_backward"),
    **_norms("group_norm", perf_model.GroupNormBwd, "_backward"),
    **_norms("instance_norm", perf_model.InstanceNormBwd, "_backward"),
    **_norms("rms_norm", perf_model.RMSNormBwd, "_backward"),
    "aten::_fused_rms_norm_backward": perf_model.RMSNormBwd,
    "primus::fused_ln_modulate": perf_model.FusedLnModulate,
    "primus::fused_ln_modulate_backward": perf_model.FusedLnModulateBackward,
    **_named(("aten::",), ("sum", "mean", "max", "min", "norm", "linalg_norm", "std", "var", "logsumexp", "cumsum",
                           "cumprod", "amin", "amax"), perf_model.aten_reduce),
    **_named(("aten::",), ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
             perf_model.aten_upsample_nearest),
    **_named(("aten::",), ("replication_pad1d", "replication_pad2d", "replication_pad3d"),
             perf_model.aten_replication_pad),
}


def get_perf_model_category(perf_model_class, bwd=False):
    """The category a model declares; that of its backward pass may be None."""
    if bwd:
        return getattr(perf_model_class, "bwd_category", None)
    category = getattr(perf_model_class, "category", None)
    if category is None:
        raise ValueError(f"perf_model_class {perf_model_class} must define a category attribute")
    return category


def sheet_category_from_final_category(category):
    """The family of sheets a category belongs to: CONV for CONV_fwd and CONV_bwd."""
    return category[:-4] if category.endswith(("_fwd", "_bwd")) else category


def get_perf_model_sheet_category(perf_model_class):
    declared = getattr(perf_model_class, "sheet_category", None)
    return declared or sheet_category_from_final_category(get_perf_model_category(perf_model_class))


def build_sheet_category_to_op_names(op_to_perf_model_class_map):
    """Family of sheets -> names of its ops, both in the order of the map."""
    families = {}
    for name, model in op_to_perf_model_class_map.items():
        families.setdefault(get_perf_model_sheet_category(model), []).append(name)
    return families


def register_perf_model_categories(perf_model_extension, registry):
    """Enters the categories of models (op name -> class) into a registry of categories."""
    registry.update((name, get_perf_model_category(model)) for name, model in perf_model_extension.items())


def register_op_categories(op_category_extension, registry):
    """Enters categories (op name -> category) into a registry of categories."""
    registry.update(op_category_extension)


def build_op_category_registry(op_to_perf_model_class_map, category_only_ops=None):
    """Op name -> category; what has no model wins over what its model says."""
    registry = {}
    register_perf_model_categories(op_to_perf_model_class_map, registry)
    register_op_categories(category_only_ops or {}, registry)
    return registry


OP_CATEGORY_REGISTRY = build_op_category_registry(op_to_perf_model_class_map, CATEGORY_ONLY_OP_MAPPING)
dict_cat2names = build_sheet_category_to_op_names(op_to_perf_model_class_map)

_matchers = []


def register_perf_model_matcher(matcher):
    """Adds a function of an op's name that gives a model class or None, asked where the map has no such name."""
    _matchers.append(matcher)


def resolve_perf_model_class(name):
    """The model of an op: from the map, else from the first matcher that has one; else None."""
    found = op_to_perf_model_class_map.get(name)
    if found is not None:
        return found
    return next((model for model in (matcher(name) for matcher in _matchers) if model is not None), None)


def _triton_compiled(name):
    if not name.startswith(("triton_poi_", "triton_red_", "triton_per_")):
        return None
    from .triton_compiled_perf_model import TritonCompiledPerfModel

    return TritonCompiledPerfModel


register_perf_model_matcher(_triton_compiled)


def categorize_torch_op(row):
    """The category of an op. `row` has its `name`, and perhaps `kernel_details` (the first kernel counts)."""
    name = row["name"]
    category = OP_CATEGORY_REGISTRY.get(name)
    if category is not None:
        return category
    for start in _NAME_STARTS:
        if name.startswith(start):
            return start
    kernels = row.get("kernel_details")
    kernel = (kernels[0].get("name") or "") if kernels else ""
    if kernel.startswith(_NATIVE_KERNEL):
        return next((kind for kind in _NATIVE_KERNEL_KINDS if kind in kernel), "other")
    return "other"
