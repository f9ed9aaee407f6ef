"""Scaled dot product attention of training: q[B, N_Q, H_Q, d], k and v[B, N_KV, H_KV, d].

FLOPs = two products per query and key; a causal mask halves them. Masks, dropout and the softmax
itself count nothing. Bytes = q, k, v and the output, each moved once.
"""

from ..utils import name2bpe, optional_float, torch_dtype_map
from . import simulation
from .base import Model, at, bool_literal, concrete, dims, sdpa_bool, stride, text_at, types
from .gemm import GEMM

BNHD = (0, 2, 1, 3)  # where batch, heads, length, size stand in a tensor [B, N, H, d]
BHND = (0, 1, 2, 3)


class Softmax:
    """Static formulas for the softmax between the two products of an attention."""

    @staticmethod
    def flops(M, N):
        return 3 * M * N

    @staticmethod
    def bytes(M, N, bytes_per_element):
        return 2 * M * N * bytes_per_element

    @staticmethod
    def flops_bwd(M, N):
        return 2 * Softmax.flops(M, N)

    @staticmethod
    def bytes_bwd(M, N, bytes_per_element):
        return 3 * M * N * bytes_per_element

    @staticmethod
    def get_time(arch, M, N, bytes_per_element, force_to_l1=False, num_cus=None):
        return simulation.softmax_time(arch, Softmax.flops(M, N), Softmax.bytes(M, N, bytes_per_element),
                                       force_to_l1, num_cus)


def halved_if_causal(flops, causal, n_q, n_kv):
    if not causal:
        return flops
    if n_q != n_kv:
        raise ValueError(f"causal=True needs equal lengths, got {n_q} queries and {n_kv} keys")
    return flops / 2


class SDPA(Model):
    category = "SDPA_fwd"
    bwd_category = "SDPA_bwd"

    def __init__(self, event, arch=None, python_path=None, enable_origami=False):
        super().__init__(event, arch, python_path)
        self.enable_origami = enable_origami
        details = self.param_details
        for name in ("B", "N_Q", "H_Q", "N_KV", "H_KV", "d_h_qk", "d_h_v"):
            setattr(self, name, details[name])
        self.d_h = self.d_h_qk

    def _shape(self):
        return self.B, self.N_Q, self.H_Q, self.N_KV, self.H_KV, self.d_h_qk, self.d_h_v

    def flops(self):
        return self.flops_func(*self._shape(), self.param_details["causal"])

    @staticmethod
    def flops_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal):
        return halved_if_causal(B * H_Q * 2 * N_Q * N_KV * (d_h_qk + d_h_v), causal, N_Q, N_KV)

    def bytes(self, bytes_per_element=2):
        return self.bytes_func(*self._shape(), self.param_details["causal"], bytes_per_element)

    @staticmethod
    def bytes_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, bytes_per_element):
        return B * (N_Q * H_Q + N_KV * H_KV) * (d_h_qk + d_h_v) * bytes_per_element

    def flops_bwd(self):
        details = self.param_details
        return self.flops_bwd_func(*self._shape(), details["causal"], details["flash_impl"])

    @staticmethod
    def flops_bwd_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, flash_impl):
        """Flash attention computes the first product again; groups of queries add up their keys' gradients."""
        products = B * H_Q * 2 * N_Q * N_KV * ((3 if flash_impl else 2) * d_h_qk + 2 * d_h_v)
        sums = B * N_KV * (d_h_qk + d_h_v) * (H_Q // H_KV - 1)
        return halved_if_causal(products + sums, causal, N_Q, N_KV)

    def bytes_bwd(self, bytes_per_element=2):
        return self.bytes_bwd_func(*self._shape(), self.param_details["causal"], bytes_per_element)

    @staticmethod
    def bytes_bwd_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, bytes_per_element):
        queries = N_Q * H_Q * (2 * d_h_qk + d_h_v)
        keys = 2 * N_KV * H_KV * (d_h_qk + d_h_v)
        return B * (queries + keys) * bytes_per_element

    def get_compute_precision(self):
        dtypes = self.param_details.get("dtype_A_B")
        return torch_dtype_map(dtypes[0]) if dtypes else None

    def get_maf_type(self):
        return "matrix"

    def _is_flash(self):
        return isinstance(self, (flash_attention, flash_attention_backward))

    def _tiles(self, bytes_moved):
        dtypes = self.param_details.get("dtype_A_B")
        return (self.arch, self.get_compute_precision(), self.python_path, dtypes[0] if dtypes else None,
                bytes_moved, self.B, self.H_Q, self.N_Q, self.N_KV, self.d_h)

    def get_simulation_time(self):
        return self._simulated(self.get_simulation_time_func, self.bytes)

    def get_simulation_time_bwd(self):
        return self._simulated(self.get_simulation_time_bwd_func, self.bytes_bwd)

    def _simulated(self, function, bytes_moved):
        if not self.arch:
            return None
        try:
            return function(*self._tiles(bytes_moved()), fa=self._is_flash(), enable_origami=self.enable_origami)
        except (ArithmeticError, AssertionError, KeyError, TypeError, ValueError):
            return None  # a GPU description or a call that the simulator cannot work with

    @staticmethod
    def get_simulation_time_func(arch, dtype, python_path, tensor_type, bytes_moved, B, H_Q, N_Q, N_KV, d_h, fa=False,
                                 enable_origami=False):
        return simulation.attention_time(bytes_moved, fa, GEMM.get_simulation_time_func, Softmax.get_time, arch, dtype,
                                         python_path, tensor_type, (B, H_Q, N_Q, N_KV, d_h), fa,
                                         {"enable_origami": enable_origami})

    @staticmethod
    def get_simulation_time_bwd_func(arch, dtype, python_path, tensor_type, bytes_moved, B, H_Q, N_Q, N_KV, d_h,
                                     fa=False, enable_origami=False):
        return simulation.attention_time_bwd(bytes_moved, fa, GEMM.get_simulation_time_func, Softmax.get_time, arch,
                                             dtype, python_path, tensor_type, (B, H_Q, N_Q, N_KV, d_h), fa,
                                             {"enable_origami": enable_origami})


def extract_sdpa_cfg(q_shape, k_shape, v_shape, bhnd_idx):
    """Batch, lengths, heads and sizes; `bhnd_idx` says where they stand in the tensors."""
    (bq, hq, nq, dq), (bk, hk, nk, dk), (bv, hv, nv, dv) = (
        [shape[i] for i in bhnd_idx] for shape in (q_shape, k_shape, v_shape))
    if not bq == bk == bv:
        raise ValueError(f"Batch sizes of q, k and v differ: {bq}, {bk}, {bv}")
    if hk != hv:
        raise ValueError(f"Head sizes of k and v differ: {hk}, {hv}")
    if nk != nv:
        raise ValueError(f"Length sizes of k and v differ: {nk}, {nv}")
    if dq != dk:
        raise ValueError(f"Head dimensions of q and k differ: {dq}, {dk}")
    return {"B": bq, "N_Q": nq, "H_Q": hq, "N_KV": nk, "H_KV": hk, "d_h_qk": dq, "d_h_v": dv}


def extract_sdpa_varlen_cfg(q_shape, k_shape, v_shape, hnd_idx):
    """As `extract_sdpa_cfg` for sequences packed one after the other, which have no batch."""
    packed = [(1, *(shape[i] for i in hnd_idx)) for shape in (q_shape, k_shape, v_shape)]
    return extract_sdpa_cfg(*packed, BHND)


def qkv_cfg(event, slot, layout):
    return extract_sdpa_cfg(*dims(event)[slot:slot + 3], layout)


def qkv_strides(event, slot):
    return {f"{name}_stride": stride(event, slot + i) for i, name in enumerate("qkv")}


class _OwnBackward:
    """The op is the backward pass: its ordinary cost is the backward cost."""

    category = "SDPA_bwd"
    bwd_category = None

    def flops(self):
        return self.flops_bwd()

    def bytes(self, bytes_per_element=2):
        return self.bytes_bwd(bytes_per_element)


# --- FlashAttention -------------------------------------------------------------------------------------


class flash_attention(SDPA):
    @staticmethod
    def get_param_details(event):
        texts = concrete(event)
        return {**qkv_cfg(event, 0, BNHD), **qkv_strides(event, 0), "dropout": float(texts[3]),
                "causal": bool_literal(texts[5]), "flash_impl": True, "dtype_A_B": tuple(types(event)[:2])}


class flash_attention_backward(_OwnBackward, SDPA):
    """(dout, q, k, v, ...)"""

    @staticmethod
    def get_param_details(event):
        dropout, causal = text_at(event, 8), text_at(event, 10)
        return {**qkv_cfg(event, 1, BNHD), **qkv_strides(event, 1), "dropout": float(dropout) if dropout else 0.0,
                "causal": bool_literal(causal) if causal else True, "flash_impl": True,
                "dtype_A_B": tuple(types(event)[:2])}

    def bytes(self, bytes_per_element=None):
        size = bytes_per_element or name2bpe(self.param_details["dtype_A_B"][0])
        return self.bytes_bwd(size)


class _Varlen(SDPA):
    """Packed sequences. Only the longest length is recorded: one sequence of that length, the others equal."""

    q_slot = seqs_slot = max_slot = dropout_slot = causal_slot = None

    @classmethod
    def get_param_details(cls, event):
        shapes, texts = dims(event), concrete(event)
        q = cls.q_slot
        return {**extract_sdpa_varlen_cfg(*shapes[q:q + 3], (1, 0, 2)), **qkv_strides(event, q),
                "dropout": float(texts[cls.dropout_slot]), "causal": bool_literal(texts[cls.causal_slot]),
                "flash_impl": True, "dtype_A_B": tuple(types(event)[:2]),
                "num_seqs_q": shapes[cls.seqs_slot][0] - 1, "num_seqs_kv": shapes[cls.seqs_slot + 1][0] - 1,
                "max_seqlen_q": float(texts[cls.max_slot]), "max_seqlen_kv": float(texts[cls.max_slot + 1])}

    def _per_sequence(self, flops):
        details = self.param_details
        count, longest_q, longest_kv = details["num_seqs_q"], details["max_seqlen_q"], details["max_seqlen_kv"]
        total = flops(longest_q, longest_kv)
        if count > 1:
            others_q = (self.N_Q - longest_q) // (count - 1)
            others_kv = (self.N_KV - longest_kv) // (details["num_seqs_kv"] - 1)
            total += (count - 1) * flops(others_q, others_kv)
        return total


class flash_attention_varlen_forward(_Varlen):
    q_slot, seqs_slot, max_slot, dropout_slot, causal_slot = 0, 3, 5, 7, 9

    def flops(self):
        return self._per_sequence(lambda n_q, n_kv: self.flops_func(
            1, n_q, self.H_Q, n_kv, self.H_KV, self.d_h_qk, self.d_h_v, self.param_details["causal"]))


class flash_attention_varlen_backward(_OwnBackward, _Varlen):
    q_slot, seqs_slot, max_slot, dropout_slot, causal_slot = 1, 9, 11, 13, 15

    def flops(self):
        return self._per_sequence(lambda n_q, n_kv: self.flops_bwd_func(
            1, n_q, self.H_Q, n_kv, self.H_KV, self.d_h_qk, self.d_h_v, self.param_details["causal"], True))


# --- PyTorch's own --------------------------------------------------------------------------------------


class _Aten(SDPA):
    dropout_slot = causal_slot = None
    flash_impl = False

    @classmethod
    def get_param_details(cls, event):
        texts = concrete(event)
        return {**qkv_cfg(event, 0, BHND), "dropout": optional_float(texts[cls.dropout_slot]),
                "causal": sdpa_bool(texts[cls.causal_slot]), "flash_impl": cls.flash_impl,
                "dtype_A_B": tuple(types(event)[:2])}


class aten__scaled_dot_product_cudnn_attention(_Aten):
    dropout_slot, causal_slot = 5, 6


class aten__scaled_dot_product_efficient_attention(_Aten):
    dropout_slot, causal_slot = 5, 6


class aten__scaled_dot_product_flash_attention(_Aten):
    dropout_slot, causal_slot = 3, 4
    flash_impl = True


# --- AITER and FlashAttention 3: no data types in the parameters, so no precision ------------------------


class _Untyped(SDPA):
    q_slot = 0
    dropout_slot = causal_slot = None

    @classmethod
    def get_param_details(cls, event):
        texts = concrete(event)
        dropout = 0.0 if cls.dropout_slot is None else optional_float(texts[cls.dropout_slot])
        return {**qkv_cfg(event, cls.q_slot, BNHD), "dropout": dropout, "causal": sdpa_bool(texts[cls.causal_slot]),
                "flash_impl": True}


class aiter__flash_attn_forward(_Untyped):
    dropout_slot, causal_slot = 3, 5


class aiter__flash_attn_backward(_OwnBackward, _Untyped):
    dropout_slot, causal_slot = 10, 12


class aiter__fmha_v3_forward(_Untyped):
    q_slot, dropout_slot, causal_slot = 1, 4, 6


class aiter__fmha_v3_backward(_OwnBackward, _Untyped):
    q_slot, dropout_slot, causal_slot = 1, 7, 9


class aiter__mha_fwd(_Untyped):
    dropout_slot, causal_slot = 3, 5


class aiter__fmha_v3_fwd(_Untyped):
    dropout_slot, causal_slot = 3, 5


class aiter__mha_bwd(_OwnBackward, _Untyped):
    q_slot, dropout_slot, causal_slot = 1, 6, 8


class flash_attn_v3_forward(_Untyped):
    causal_slot = 24


# --- Others ---------------------------------------------------------------------------------------------


class evoformer_attention(SDPA):
    """Every tensor is [batch, sequences, length, heads, size]; sequences are as good as batches."""

    @staticmethod
    def get_param_details(event):
        batch, sequences, length, heads, size = dims(event)[0]
        return {"B": batch * sequences, "N_Q": length, "H_Q": heads, "N_KV": length, "H_KV": heads, "d_h_qk": size,
                "d_h_v": size, "causal": False, "flash_impl": False,
                "dtype_A_B": [at(event["args"].get("Input type"), 0)]}


class vllm_unified_attention_with_output(SDPA):
    """Prefill only, by the tokens in an old form of annotation. The map holds the serving model instead."""

    @staticmethod
    def get_param_details(event):
        q, k = dims(event)[0], dims(event)[1]
        words = event["annotation"].replace("(", "_").replace(")", "_").split("_")
        try:
            context, squared, generated = (int(words[i]) for i in (3, 4, 8))
        except (IndexError, ValueError):
            raise NotImplementedError(f"no token counts in {event['annotation']!r}") from None
        return {"B": 1, "N_Q": q[0], "H_Q": q[1], "N_KV": k[0], "H_KV": k[1], "d_h_qk": q[2], "d_h_v": k[2],
                "dropout": 0.0, "causal": True, "flash_impl": True, "sum_ctx_tokens": context,
                "sum_ctx_squared_tokens": squared, "sum_gen_tokens": generated}

    def flops(self):
        details = self.param_details
        if not details["sum_ctx_tokens"]:
            raise NotImplementedError("the step prefilled nothing")
        return self.H_Q * (self.d_h_qk + self.d_h_v) * details["sum_ctx_squared_tokens"]
