"""Attention in serving engines: the lengths of the requests stand in the annotation of the step.

Prefilled requests attend causally to their own chunk and fully to what is cached; decoded ones to everything
cached. New keys count at the size of the queries, cached ones at that of the cache.
"""

from math import ceil

from ...TraceUtils.annotation_utils import STATISTICS, IterationAnnotation
from .._models.base import Model, at, dims, is_tensor, text_at, types
from ..utils import name2bpe, optional_int, torch_dtype_map


def step_sums(event):
    """The token sums of the step around an op; NotImplementedError where no annotation gives them."""
    return IterationAnnotation(event.get("annotation")).chunk_stats()


def decoding_only(sums):
    return {name: 0 if name.startswith("c_") else value for name, value in sums.items()}


def attention_params(q, kv_heads, n_kv, d_v, sums, **more):
    n_q, heads, d_qk = q
    return {"B": 1, "N_Q": n_q, "H_Q": heads, "H_V": kv_heads, "H_K": kv_heads, "N_KV": n_kv, "H_KV": kv_heads,
            "d_h_qk": d_qk, "d_h_v": d_v, "dropout": 0.0, "causal": False, "flash_impl": True, **sums, **more}


class InferenceAttention(Model):
    category = "InferenceAttention"

    def __init__(self, event, arch=None, python_path=None):
        try:
            super().__init__(event, arch, python_path)
        except (NotImplementedError, ValueError, IndexError, KeyError, TypeError) as error:
            self.param_details = {"_no_perf": True}
            self.reason = str(error)

    @staticmethod
    def get_param_details(event):
        """q[tokens, heads, size], then keys that end in [.., length, heads, size]."""
        q, k = dims(event)[0], dims(event)[1]
        if len(q) != 3:
            raise ValueError(f"expected queries [tokens, heads, size], got {q}")
        n_kv, kv_heads, d_v = k[-3:]
        dtype_q = types(event)[0]
        cache = (event.get("attention_perf_meta") or {}).get("k_cache_dtype")
        return attention_params(q, kv_heads, n_kv, d_v, step_sums(event), dtype_Q=dtype_q,
                                dtype_KV=cache or at(types(event), 1, dtype_q))

    def _known(self):
        return not self.param_details.get("_no_perf")

    def _in_window(self, name):
        """A decoded token sees `sliding_window` keys at most."""
        seen, decoded = self.param_details[name], self.param_details["g_sq"]
        window = self.param_details.get("sliding_window", 0)
        return min(seen, decoded * window) if window > 0 and decoded > 0 else seen

    def flops(self):
        if not self._known():
            return None
        p = self.param_details
        if p["c_sq"] == 0 and p["g_sq"] == 0:
            raise NotImplementedError("the step processed no tokens")
        return p["H_Q"] * (p["d_h_qk"] + p["d_h_v"]) * (2 * p["c_sqsk"] - p["c_sqsq"] + 2 * self._in_window("g_sqsk"))

    def bytes(self):
        if not self._known():
            return None
        p = self.param_details
        width = p["d_h_qk"] + p["d_h_v"]
        fresh = (p["c_sq"] + p["g_sq"]) * (p["H_Q"] + p["H_KV"]) * width
        cached = ((p["c_sk"] - p["c_sq"]) + (self._in_window("g_sk") - p["g_sq"])) * p["H_KV"] * width
        size = name2bpe(p["dtype_Q"]) or 2
        return p["B"] * (fresh * size + cached * (name2bpe(p.get("dtype_KV")) or size))

    def flops_bwd(self):
        raise NotImplementedError("serving has no backward pass")

    def bytes_bwd(self):
        raise NotImplementedError("serving has no backward pass")

    def get_compute_precision(self):
        return torch_dtype_map(self.param_details["dtype_Q"]) if self._known() else None

    def get_maf_type(self):
        return "matrix"


class vllm_unified_attention_with_output(InferenceAttention):
    pass


class vllm_unified_mla_attention_with_output(InferenceAttention):
    pass


class mha_varlen_fwd(InferenceAttention):
    pass


class mla_decode_fwd(InferenceAttention):
    pass


class _SeparateValues(InferenceAttention):
    """The values have a tensor, and so a size, of their own."""

    @staticmethod
    def get_param_details(event):
        details = InferenceAttention.get_param_details(event)
        if is_tensor(event, 2):
            details["d_h_v"] = dims(event)[2][-1]
        return details


class aiter_fmha_v3_varlen_fwd(_SeparateValues):
    pass


class aiter_mha_batch_prefill(_SeparateValues):
    pass


class pseudo_mla_prefill_fwd(_SeparateValues):
    pass


class mla_tilelang_sparse_fwd(InferenceAttention):
    @staticmethod
    def get_param_details(event):
        return {**InferenceAttention.get_param_details(event), "d_h_v": 512}


class aiter_paged_attention_ragged(InferenceAttention):
    """(out, *, q, keys, values)"""

    @staticmethod
    def get_param_details(event):
        q, k, v = dims(event)[2:5]
        if len(q) != 3:
            raise ValueError(f"expected queries [tokens, heads, size], got {q}")
        sums = step_sums(event)
        return attention_params(q, k[-2], sums["c_sk"] + sums["g_sk"], v[-1], sums, dtype_Q=types(event)[2])


class pa_decode_gluon(InferenceAttention):
    """(out, q, keys, ..., window at 19), decoding only."""

    @staticmethod
    def get_param_details(event):
        q = dims(event)[0][:3]
        sums = decoding_only(step_sums(event))
        dtype_q = types(event)[0]
        return attention_params(q, dims(event)[2][1], sums["g_sk"], q[2], sums, dtype_Q=dtype_q,
                                dtype_KV=at(types(event), 2, dtype_q),
                                sliding_window=optional_int(text_at(event, 19), 0))


_V4_MODELS = {  # keys selected, window, heads, head size
    "deepseek-v4-pro": (1024, 128, 128, 512),
    "deepseek-v4-flash": (512, 128, 64, 512),
}


class _V4Decode(InferenceAttention):
    """DeepSeek V4: a decoded token sees a window, and beside it a selection or a summary of what is older."""

    @classmethod
    def get_param_details(cls, event):
        args = event["args"]
        name = (args.get("v4_model_name") or "").lower()
        config = next((values for model, values in _V4_MODELS.items() if model in name),
                      _V4_MODELS["deepseek-v4-flash"])
        topk, window, heads, size = config
        heads = args.get("v4_H_Q") or max(1, heads // (args.get("v4_tp") or 1))
        size = args.get("v4_d_h") or size
        sums = decoding_only(step_sums(event))
        seen = cls.keys_seen(args.get("v4_window") or window, args.get("v4_index_topk") or topk, sums)
        return attention_params((dims(event)[0][0] or sums["g_sq"], heads, size), 1, sums["g_sk"], size, sums,
                                dtype_Q="c10::bfloat16", dtype_KV="c10::bfloat16", sliding_window=seen)


class pseudo_v4_paged_decode_swa(_V4Decode):
    @staticmethod
    def keys_seen(window, topk, sums):
        return window


class pseudo_v4_paged_decode_csa(_V4Decode):
    @staticmethod
    def keys_seen(window, topk, sums):
        if sums["g_sq"] <= 0:
            return window + topk
        return window + min(ceil(sums["g_sk"] / sums["g_sq"] / 4), topk)


class pseudo_v4_paged_decode_hca(_V4Decode):
    @staticmethod
    def keys_seen(window, topk, sums):
        return window + ceil(sums["g_sk"] / sums["g_sq"] / 128) if sums["g_sq"] > 0 else 0


class pa_sparse_prefill_opus_fwd(InferenceAttention):
    """The pairs of queries and keys are listed in two arguments; no annotation is needed."""

    @staticmethod
    def get_param_details(event):
        shapes, dtype_q = dims(event), types(event)[0]
        pairs = shapes[2][0] + shapes[5][0]
        return attention_params(shapes[0][:3], 1, pairs, shapes[0][2], {}, prefill_pairs=pairs, dtype_Q=dtype_q,
                                dtype_KV=at(types(event), 1, dtype_q))

    def flops(self):
        if not self._known():
            return None
        p = self.param_details
        return p["prefill_pairs"] * p["H_Q"] * 2 * (p["d_h_qk"] + p["d_h_v"])

    def bytes(self):
        if not self._known():
            return None
        p = self.param_details
        size = name2bpe(p["dtype_Q"]) or 2
        queries = 2 * p["N_Q"] * p["H_Q"] * p["d_h_qk"] * size
        return queries + p["prefill_pairs"] * p["d_h_qk"] * (name2bpe(p["dtype_KV"]) or size)


class gdn_attention_core(Model):
    """Gated delta net: (q, k and v side by side; b[tokens, value heads]; a; out[tokens, value heads, size])."""

    category = "InferenceAttention"

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        p = self.param_details
        self.H_V, self.H_K, self.d_k, self.d_v = p["H_V"], p["H_K"], p["d_h_qk"], p["d_h_v"]

    @staticmethod
    def get_param_details(event):
        shapes = dims(event)
        v_heads, d_v = shapes[1][1], shapes[3][2]
        k_heads = v_heads // 2
        d_k = (shapes[0][1] - v_heads * d_v) // 2 // k_heads
        sums = step_sums(event)
        context, decoded = sums["c_sq"], sums["g_sq"]
        if context + decoded == 0:
            raise NotImplementedError("the step processed no tokens")
        tokens = dict.fromkeys(STATISTICS, 0)
        tokens.update(c_sq=context, c_sk=context, g_sq=decoded, g_sk=decoded)
        return {"B": 1, "N_Q": context + decoded, "H_Q": k_heads, "N_KV": 0, "H_KV": k_heads, "H_V": v_heads,
                "H_K": k_heads, "d_h_qk": d_k, "d_h_v": d_v, **tokens, "dtype_Q": types(event)[0]}

    def flops(self):
        return 7 * self.param_details["N_Q"] * self.H_V * self.d_v * self.d_k

    def bytes(self):
        return 2 * self.param_details["N_Q"] * self.H_V * (self.d_k + 2 * self.d_v + 2)

    def get_compute_precision(self):
        return torch_dtype_map(self.param_details["dtype_Q"])

    def get_maf_type(self):
        return "matrix"
