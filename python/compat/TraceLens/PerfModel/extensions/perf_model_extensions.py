"""Further ops of serving engines: products, quantisation, activations, rotary embedding, hyper-connections."""

from math import ceil, prod

from .._models.base import Model, at, dims, is_tensor, stride, stride_if_any, text_at, types
from .._models.elementwise import BinaryElementwise, UnaryElementwise
from .._models.gemm import GEMM
from .._models.others import FusedRoPE
from ..utils import name2bpe, optional_int, torch_dtype_map

_BF16 = "c10::bfloat16"

# --- Matrix products ------------------------------------------------------------------------------------


def linear_params(event, out_type, bias=False):
    """x[M, K], weight[N, K]"""
    (rows, inner), weight = dims(event)[0], dims(event)[1]
    dtypes = event["args"].get("Input type")
    return {"B": 1, "M": rows, "N": weight[0], "K": inner, "bias": bias,
            "dtype_A_B": (at(dtypes, 0, ""), at(dtypes, 1, ""), out_type)}


class _Linear(GEMM):
    def bytes(self):
        a, b, out = map(name2bpe, self.param_details["dtype_A_B"])
        return super().bytes(a, b, out, out)


class gemm_a8w8_blockscale(_Linear):
    @staticmethod
    def get_param_details(event):
        details = linear_params(event, _BF16)
        shapes = dims(event)
        if len(shapes) > 3:
            columns, rows = at(shapes[2], -1) if shapes[2] else 0, at(shapes[3], 0, 0)
            details.update(quant_scheme="a8w8_blockscale", quant_granularity="per_block",
                           block_k=ceil(details["K"] / columns) if columns else None,
                           block_n=ceil(details["N"] / rows) if rows else None,
                           scale_dtype=at(types(event), 2) or "float32")
        details.update(output_shape=(details["M"], details["N"]), output_dtype=_BF16)
        return details


class vllm_rocm_unquantized_gemm(GEMM):
    @staticmethod
    def get_param_details(event):
        details = linear_params(event, at(types(event), 2) or "", bias=is_tensor(event, 2))
        details["B"] = details.pop("B")  # the last column here
        return details

    def bytes(self):
        a, b, third = map(name2bpe, self.param_details["dtype_A_B"])
        out = third if self.bias else b
        return super().bytes(a, b, out, out)


class gemm_a16w16_atomic_(_Linear):
    @staticmethod
    def get_param_details(event):
        return linear_params(event, at(types(event), 3, _BF16))


class gemm_a16w16(_Linear):
    @staticmethod
    def get_param_details(event):
        return linear_params(event, types(event)[0], bias=is_tensor(event, 2))


class gemm_a16w16_asm(_Linear):
    @staticmethod
    def get_param_details(event):
        out = at(types(event), 2)
        return linear_params(event, out if name2bpe(out) else types(event)[0])


class gemm_afp4wfp4(GEMM):
    """Both operands packed: the traced K counts pairs."""

    @staticmethod
    def get_param_details(event):
        details = linear_params(event, _BF16)
        return {**details, "K": 2 * details["K"]}

    def bytes(self):
        return super().bytes(0.5, 0.5, 2, 2)

    def get_compute_precision(self):
        return "fp4"


class _Batched(GEMM):
    def flops(self):
        return self.B * super().flops()

    def bytes(self):
        one = super().bytes(*self._element_sizes())
        return None if one is None else self.B * one


def batched_params(event, sizes):
    return {**dict(zip("BMNK", sizes)), "bias": False, "dtype_A_B": (*types(event)[:2], _BF16)}


class batched_gemm_a16wfp4(_Batched):
    @staticmethod
    def get_param_details(event):
        batch, rows, inner = dims(event)[0]
        return batched_params(event, (batch, rows, dims(event)[1][1], inner))

    def _element_sizes(self):
        return name2bpe(self.param_details["dtype_A_B"][0]), 0.5, 2, 2

    def get_compute_precision(self):
        return "fp4"


class batched_gemm_a8w8(_Batched):
    """The batch may be the first or the second dimension of x."""

    @staticmethod
    def get_param_details(event):
        x, weight = dims(event)[:2]
        batch = weight[0]
        return batched_params(event, (batch, x[1] if x[0] == batch else x[0], weight[1], x[2]))

    def _element_sizes(self):
        a, b, _ = self.param_details["dtype_A_B"]
        return name2bpe(a), name2bpe(b), 2, 2

    def get_compute_precision(self):
        return torch_dtype_map(self.param_details["dtype_A_B"][1])


# --- Quantisation ---------------------------------------------------------------------------------------


class per_group_quant(BinaryElementwise):
    """(out, input, scales)"""

    category = "GroupQuant"

    @staticmethod
    def get_param_details(event):
        out, tensor, scales = (tuple(shape) for shape in dims(event)[:3])
        t_out, t_in, t_scales = types(event)[:3]
        return {"shape_in1": tensor, "shape_in2": scales, "shape_out": out,
                "dtype_in1_in2_out": (t_in, t_scales, t_out), "stride_input1": stride(event, 1),
                "stride_input2": stride(event, 2), "stride_output": stride(event, 0)}

    @staticmethod
    def get_broadcast_shape(shape1, shape2):
        return shape1  # scales of groups do not broadcast

    def flops(self):
        return prod(self.param_details["shape_out"]) * 2.59375

    def bytes(self):
        out = prod(self.param_details["shape_out"])
        return out * self.bpe_out + self.nelems_in1 * self.bpe_in1 + self.nelems_in2 * self.bpe_in2


class vllm_triton_per_token_group_quant_fp8(BinaryElementwise):
    """x[M, N] with argument 1 the size of a group of a row."""

    category = "GroupQuant"

    @staticmethod
    def get_param_details(event):
        shape, dtype = tuple(dims(event)[0]), types(event)[0]
        rows, width = ((1, 1) + shape)[-2:] if len(shape) < 2 else shape[:2]
        group = optional_int(text_at(event, 1)) or 128
        return {"M": rows, "N": width, "group_size": group, "num_groups": max(1, ceil(width / group)),
                "shape_x": shape, "dtype_x": dtype, "shape_in1": shape, "shape_in2": (), "shape_out": shape,
                "dtype_in1_in2_out": (dtype, None, "c10::float8_e4m3fn"), "stride_input1": None,
                "stride_input2": None, "stride_output": None}

    def flops(self):
        return 6 * self.param_details["M"] * self.param_details["N"]

    def bytes(self):
        if self.bpe_in1 is None:
            return None
        p = self.param_details
        elements = p["M"] * p["N"]
        return elements * self.bpe_in1 + elements + 4 * p["M"] * p["num_groups"]


class _Mxfp4Quant(UnaryElementwise):
    """A 4-bit result with one scale byte for 32 values."""

    category = "GroupQuant"
    sheet_category = "GroupQuant"
    slot = 0
    with_stride = False

    @classmethod
    def get_param_details(cls, event):
        dtype = types(event)[cls.slot]
        return {"op_shape": tuple(dims(event)[cls.slot]), "dtype_in_out": (dtype, dtype),
                "stride_input": stride_if_any(event, cls.slot) if cls.with_stride else None, "stride_output": None}

    def flops(self):
        return 2 * self.nelems

    def bytes(self):
        if self.bpe_in is None:
            return None
        return self.nelems * self.bpe_in + 0.5 * self.nelems + self.nelems // 32


class fused_flatten_mxfp4_quant(_Mxfp4Quant):
    with_stride = True


class sglang_quant_dynamic_mxfp4_quant(_Mxfp4Quant):
    pass


class aiter_dynamic_per_group_scaled_quant_fp4(_Mxfp4Quant):
    slot = 1


class fused_dynamic_mx_quant_moe_sort_hip(_Mxfp4Quant):
    slot = 2
    with_stride = True


class aiter_fused_dynamic_mxfp4_quant_moe_sort_hip(_Mxfp4Quant):
    slot = 2


# --- Activation and sampling ----------------------------------------------------------------------------


class _Gated(UnaryElementwise):
    """out = act(gate) * up, with gate and up side by side in one tensor: (out, input)."""

    flops_per_element = None

    @staticmethod
    def get_param_details(event):
        return {"op_shape": tuple(dims(event)[0]), "dtype_in_out": (types(event)[1], types(event)[0]),
                "stride_input": stride(event, 1), "stride_output": stride(event, 0)}

    def flops(self):
        return self.flops_per_element * self.nelems

    def bytes(self):
        return 2 * self.nelems * self.bpe_in + self.nelems * self.bpe_out


class aiter_silu_and_mul(_Gated):
    flops_per_element = 5


class sgl_kernel_silu_and_mul(aiter_silu_and_mul):
    pass


class aiter_gelu_and_mul(_Gated):
    flops_per_element = 8


class aiter_gelu_tanh_and_mul(_Gated):
    flops_per_element = 10


class _ByType(Model):
    """A model whose parameters name the type that is computed in."""

    type_param = "dtype_in"
    maf_type = "vector"

    def get_compute_precision(self):
        return torch_dtype_map(self.param_details[self.type_param])

    def get_maf_type(self):
        return self.maf_type


class mixed_sample_outer_exponential(_ByType):
    """One token per row: (tokens, logits[rows, vocabulary], noise)"""

    category = "elementwise"
    sheet_category = "elementwise"
    type_param = "dtype_logits"

    @staticmethod
    def get_param_details(event):
        logits = at(dims(event), 1)
        dtypes = event["args"].get("Input type")
        return {"T": at(logits, 0, 1), "V": at(logits, 1, 1), "dtype_logits": at(dtypes, 1, _BF16),
                "dtype_noise": at(dtypes, 2, "float")}

    def flops(self):
        return 2 * self.param_details["T"] * self.param_details["V"]

    def bytes(self):
        p = self.param_details
        logits, noise = name2bpe(p["dtype_logits"]), name2bpe(p["dtype_noise"])
        if logits is None or noise is None:
            return None
        return p["T"] * p["V"] * (logits + noise) + 4 * p["T"]


# --- Rotary embedding and the cache of keys and values --------------------------------------------------


class aiter_rope_cached_positions_2c_fwd_impl(FusedRoPE):
    @staticmethod
    def get_param_details(event):
        x, y = tuple(dims(event)[2]), tuple(dims(event)[3])
        return {"x_shape": x, "y_shape": y, "num_elements": prod(x) + prod(y)}


class sgl_kernel_rotary_embedding(FusedRoPE):
    """(positions, q, k, head size, cos and sin[*, rotated])"""

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        self.bpe = name2bpe(at(types(event), 1)) or 2

    @staticmethod
    def get_param_details(event):
        q, k, table = dims(event)[1], dims(event)[2], at(dims(event), 4) or ()
        head = text_at(event, 3)
        head = int(head) if str(head).strip() else q[-1]
        rotated = table[1] if len(table) >= 2 else head
        return {"num_elements": q[0] * (q[1] // head + k[1] // head) * rotated}

    def get_compute_precision(self):
        return torch_dtype_map(at(types(self.event), 1))


class _RopeAndCache(_ByType):
    """Queries and keys turned and put together; keys written to the cache too."""

    category = "RoPE_fwd"
    sheet_category = "FusedRoPE"

    def flops(self):
        p = self.param_details
        return 3 * p["T"] * (p["QH"] + p["KH"]) * p["D_pe"]

    def bytes(self):
        p = self.param_details
        size = name2bpe(p["dtype_in"])
        if size is None:
            return None
        width = p["T"] * (p["D_lora"] + p["D_pe"])
        out, cache = name2bpe(p.get("dtype_out")) or size, name2bpe(p["dtype_kv"]) or size
        return width * ((p["QH"] + p["KH"]) * size + p["QH"] * out + p["KH"] * cache)


def rope_cache_params(event, kv_heads):
    tokens, heads, lora = dims(event)[0]
    dtype = types(event)[0]
    return {"T": tokens, "QH": heads, "KH": kv_heads, "D_lora": lora, "D_pe": dims(event)[1][2], "dtype_in": dtype,
            "dtype_kv": at(types(event), 4, dtype)}


class aiter_fused_qk_rope_cat_and_cache_mla(_RopeAndCache):
    @staticmethod
    def get_param_details(event):
        return rope_cache_params(event, dims(event)[2][1])


class fused_qk_rope_concat_and_cache_mla(_RopeAndCache):
    @staticmethod
    def get_param_details(event):
        return {**rope_cache_params(event, 1), "dtype_out": at(types(event), 5, types(event)[0])}


class sglang_store_cache(_ByType):
    """New keys and values, each read and written."""

    category = "InferenceAttention"
    type_param = "dtype"

    @staticmethod
    def get_param_details(event):
        shape = tuple(dims(event)[0])
        return {"op_shape": shape, "nelems": prod(shape), "dtype": types(event)[0]}

    def flops(self):
        return 0

    def bytes(self):
        return 4 * self.param_details["nelems"] * (name2bpe(self.param_details["dtype"]) or 2)


# --- Manifold hyper-connections (M tokens, n streams of C values) and the router ------------------------


class _Mhc(_ByType):
    category = "mHC"

    def bytes(self):
        size = name2bpe(self.param_details["dtype_in"])
        return None if size is None else self._bytes(size, **self.param_details)


def type_in(event, slot):
    return at(event["args"].get("Input type"), slot, "c10::BFloat16")


def mixing_bytes(M, n):
    """The 32-bit weights that mix the streams of a token."""
    return 4 * M * n + 4 * M * n * n


def partial_bytes(M, hc3, split_k, K=0):
    """The weights, and `split_k` partial results of products and of sums of squares, in 32 bits."""
    return 4 * hc3 * K + 4 * split_k * M * (hc3 + 1)


class mhc_post(_Mhc):
    @staticmethod
    def get_param_details(event):
        M, C = dims(event)[1]
        return {"M": M, "n": dims(event)[0][1], "C": C, "hc3": None, "dtype_in": type_in(event, 1)}

    def flops(self):
        p = self.param_details
        return 2 * p["M"] * p["n"] * p["C"] * (p["n"] + 1)

    @staticmethod
    def _bytes(size, M, n, C, **_):
        return M * C * (1 + 2 * n) * size + mixing_bytes(M, n)


class mhc_pre_gemm_sqrsum(_Mhc):
    maf_type = "matrix"

    @staticmethod
    def get_param_details(event):
        M, n, C = dims(event)[2]
        hc3, K = dims(event)[3]
        return {"M": M, "n": n, "C": C, "hc3": hc3, "K": K, "split_k": dims(event)[0][0],
                "dtype_in": type_in(event, 2)}

    def flops(self):
        p = self.param_details
        return 2 * p["M"] * p["hc3"] * p["K"]

    @staticmethod
    def _bytes(size, M, n, C, hc3, K, split_k, **_):
        return M * n * C * size + partial_bytes(M, hc3, split_k, K)


class mhc_pre_big_fuse_rmsnorm(_Mhc):
    @staticmethod
    def get_param_details(event):
        M, C = dims(event)[2]
        return {"M": M, "n": dims(event)[0][1], "C": C, "hc3": dims(event)[6][0], "split_k": dims(event)[3][0],
                "dtype_in": type_in(event, 7)}

    def flops(self):
        p = self.param_details
        return p["M"] * p["C"] * (2 * p["n"] + 5)

    @staticmethod
    def _bytes(size, M, n, C, hc3, split_k, **_):
        return (M * n * C + C + M * C) * size + 4 * split_k * M * hc3 + mixing_bytes(M, n)


class mhc_fused_post_pre_gemm_sqrsum(_Mhc):
    maf_type = "matrix"

    @staticmethod
    def get_param_details(event):
        M, C = dims(event)[3]
        hc3, K = dims(event)[7]
        return {"M": M, "n": dims(event)[2][1], "C": C, "hc3": hc3, "K": K, "split_k": dims(event)[0][0],
                "dtype_in": type_in(event, 3)}

    def flops(self):
        p = self.param_details
        return 2 * p["M"] * (p["n"] * p["C"] * (p["n"] + 1) + p["hc3"] * p["K"])

    @staticmethod
    def _bytes(size, M, n, C, hc3, K, split_k, **_):
        return M * C * (1 + 3 * n) * size + mixing_bytes(M, n) + partial_bytes(M, hc3, split_k, K)


class topk_softplus(_Mhc):
    """Scores of M tokens for E experts: the bias, and weight and number of the chosen ones, in 32 bits."""

    category = "MoE_aux"

    @staticmethod
    def get_param_details(event):
        M, E = dims(event)[2]
        return {"M": M, "n": 1, "C": E, "E": E, "topk": dims(event)[0][1], "dtype_in": type_in(event, 2)}

    def flops(self):
        return 6 * self.param_details["M"] * self.param_details["E"]

    @staticmethod
    def _bytes(size, M, E, topk, **_):
        return M * E * size + 4 * E + 8 * M * topk
