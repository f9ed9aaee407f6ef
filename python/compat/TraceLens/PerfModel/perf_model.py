"""All performance models: what ops cost in FLOPs and bytes, by their names in the registry.

    GEMM.flops_func(4096, 4096, 4096, False)            # formulas, without a trace
    aten_mm(event).bytes()                              # an op of a trace
    class my_op(GEMM): ...                              # an op of one's own: give get_param_details

The formulas live in `_models`, one module per family.
"""

import os
import subprocess

from ._models.attention import (
    SDPA,
    Softmax,
    aiter__flash_attn_backward,
    aiter__flash_attn_forward,
    aiter__fmha_v3_backward,
    aiter__fmha_v3_forward,
    aiter__fmha_v3_fwd,
    aiter__mha_bwd,
    aiter__mha_fwd,
    aten__scaled_dot_product_cudnn_attention,
    aten__scaled_dot_product_efficient_attention,
    aten__scaled_dot_product_flash_attention,
    evoformer_attention,
    extract_sdpa_cfg,
    extract_sdpa_varlen_cfg,
    flash_attention,
    flash_attention_backward,
    flash_attention_varlen_backward,
    flash_attention_varlen_forward,
    flash_attn_v3_forward,
    vllm_unified_attention_with_output,
)
from ._models.base import parse_list
from ._models.conv import (
    CONV,
    ConvBias_,
    ConvBias_Backward,
    ConvBiasReLU_,
    ConvBiasReLU_Backward,
    aten_conv,
    aten_conv_bwd,
)
from ._models.elementwise import (
    BinaryElementwise,
    Reduce,
    UnaryElementwise,
    aten_binary_elementwise,
    aten_reduce,
    aten_replication_pad,
    aten_unary_elementwise,
    aten_upsample_nearest,
    liger_silu_mul_function,
    primus_turbo_quantize_fp8,
    primus_turbo_quantize_mxfp4_dual,
)
from ._models.gemm import GEMM, aten_addmm, aten_baddbmm, aten_bmm, aten_mm
from ._models.grouped_gemm import (
    GroupedGemm,
    _collect_2d_shapes,
    primus_turbo_grouped_gemm,
    primus_turbo_grouped_gemm_variable_k,
)
from ._models.jax import dtype_jax2torch, jax_conv, jax_dtype2bpe, jax_dtype_map, jax_gemm, jax_te_fused_attn
from ._models.norm import (
    BatchNorm,
    BatchNormBwd,
    FusedLnModulate,
    FusedLnModulateBackward,
    GroupNorm,
    GroupNormBwd,
    InstanceNorm,
    InstanceNormBwd,
    LayerNorm,
    LayerNormBwd,
    Normalization,
    RMSNorm,
    RMSNormBwd,
)
from ._models.others import (
    CausalConv1d,
    CrossEntropy,
    FusedRoPE,
    MambaSSD,
    MoEComm,
    causal_conv1d_fwd,
    cross_entropy_fwd,
    fused_rope_fwd,
    mamba_ssd_fwd,
    moe_combine,
    moe_dispatch,
)
from ._models.quantized_gemm import (
    aiter_gemm_a4w4,
    aten_scaled_mm,
    hipblaslt_gemm_fp4,
    hipblaslt_gemm_fp8,
    tev2_pseudo_gemm,
    tex_ts_te_gemm_ts,
    vllm_gemm_with_dynamic_quant,
)
from .utils import (
    add_simulation_time_columns,
    gemm_tflops,
    name2bpe,
    optional_float,
    optional_int,
    parse_bool,
    simulation_dtype_map,
    torch_dtype_map,
)

# A model is known by this module, wherever its formulas stand: in messages and in pickles.
for _model in [value for value in globals().values() if isinstance(value, type)]:
    _model.__module__ = __name__
del _model
