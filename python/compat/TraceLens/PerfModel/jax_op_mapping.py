"""The models of XLA's library calls, by the names the JAX analyzer gives them."""

from .perf_model import jax_conv, jax_gemm, jax_te_fused_attn

jax_op_to_perf_model_class_map = {
    "jax_gemm": jax_gemm,
    "jax_te_fused_attn": jax_te_fused_attn,
    "jax_te_fused_attn_bwd": jax_te_fused_attn,
    "jax_conv": jax_conv,
    "jax_conv_bwd": jax_conv,
}
