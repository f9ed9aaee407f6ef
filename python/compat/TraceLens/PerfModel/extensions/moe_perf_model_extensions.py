"""Mixtures of experts: M tokens of K values, each sent to `topk` of E experts of inner width N.

A gated first product is twice as wide. Of the experts, E * (1 - ((E-k)/E)^M) are expected to be visited, and
only their weights are read.
"""

from math import prod

from .._models.base import Model, at, dims, stride_if_any, text_at, types
from .._models.elementwise import BinaryElementwise
from ..utils import name2bpe, torch_dtype_map

# Shapes are unpacked here first, so a packed pair of 4-bit values counts half a byte each.
_BYTES = {
    1: ("Float8_e4m3fn", "Float8_e4m3fnuz", "Float8_e5m2", "Float8_e5m2fnuz", "FP8", "c10::Float8_e4m3fn",
        "c10::Float8_e4m3fnuz"),
    0.5: ("FP4", "c10::Float4_e2m1fn_x2"),
    2: ("BFloat16", "Float16", "Half", "c10::BFloat16", "c10::Half"),
    4: ("Float32", "Float", "c10::Float"),
}
_BYTES_OF = {name: size for size, names in _BYTES.items() for name in names}


def moe_size(name, default=None):
    return _BYTES_OF.get(name, default)


def active_experts(num_experts, topk, num_tokens):
    if not num_experts:
        return 0
    return num_experts * (1 - ((num_experts - topk) / num_experts) ** num_tokens)


class _MoE(Model):
    """A subclass gives the sizes, the three element sizes and the type that is computed in."""

    precision_of = "input_dtype"
    input_default, weight_default, output_default = 2, 1, 2

    def _sizes(self):
        p = self.param_details
        return p["num_tokens"], p["hidden_dim"], p["inter_dim"]

    def _element_sizes(self):
        p = self.param_details
        size = moe_size(p["input_dtype"], self.input_default)
        output = moe_size(p["output_dtype"], self.output_default) if "output_dtype" in p else size
        return size, moe_size(p.get("weight_dtype"), self.weight_default), output

    def flops_bwd(self):
        raise NotImplementedError("no backward pass of this op was seen in a trace")

    def bytes_bwd(self):
        raise NotImplementedError("no backward pass of this op was seen in a trace")

    def get_compute_precision(self):
        return torch_dtype_map(self.param_details[self.precision_of])

    def get_maf_type(self):
        return "matrix"


class _WithFirstProduct(_MoE):
    """The product that a gate doubles is in it; a subclass has the formulas."""

    def flops(self):
        p = self.param_details
        return self.flops_func(*self._sizes(), p["topk"], p["gated"])

    def bytes(self):
        p = self.param_details
        return self.bytes_func(*self._sizes(), p["num_experts"], p["topk"], p["gated"], *self._element_sizes())


class FusedMoE(_WithFirstProduct):
    """Both products and the weighted sum in one op."""

    category = "MoE_fused"

    @staticmethod
    def flops_func(num_tokens, hidden_dim, inter_dim, topk, gated):
        product = 2 * num_tokens * hidden_dim * inter_dim * topk
        return product * (2 if gated else 1) + product + num_tokens * hidden_dim * (2 * topk - 1)

    @staticmethod
    def bytes_func(num_tokens, hidden_dim, inter_dim, num_experts, topk, gated, input_bpe, weight_bpe, output_bpe):
        if None in (input_bpe, weight_bpe, output_bpe):
            return None
        weights = active_experts(num_experts, topk, num_tokens) * inter_dim * hidden_dim * weight_bpe
        return num_tokens * hidden_dim * (input_bpe + output_bpe) + weights * (3 if gated else 2)


class UnfusedMoE_Up(_WithFirstProduct):
    category = "MoE_unfused"

    @staticmethod
    def flops_func(num_tokens, hidden_dim, inter_dim, topk, gated):
        return 2 * num_tokens * hidden_dim * inter_dim * topk * (2 if gated else 1)

    @staticmethod
    def bytes_func(num_tokens, hidden_dim, inter_dim, num_experts, topk, gated, input_bpe, weight_bpe, output_bpe):
        if None in (input_bpe, weight_bpe, output_bpe):
            return None
        weights = active_experts(num_experts, topk, num_tokens) * (2 if gated else 1) * hidden_dim * inter_dim
        return (num_tokens * hidden_dim * input_bpe + weights * weight_bpe
                + num_tokens * inter_dim * topk * output_bpe)


class UnfusedMoE_Down(_MoE):
    category = "MoE_unfused"

    def flops(self):
        return self.flops_func(*self._sizes(), self.param_details["topk"])

    @staticmethod
    def flops_func(num_tokens, hidden_dim, inter_dim, topk):
        return 2 * num_tokens * inter_dim * hidden_dim * topk

    def bytes(self):
        p = self.param_details
        return self.bytes_func(*self._sizes(), p["num_experts"], p["topk"], *self._element_sizes())

    @staticmethod
    def bytes_func(num_tokens, hidden_dim, inter_dim, num_experts, topk, input_bpe, weight_bpe, output_bpe):
        if None in (input_bpe, weight_bpe, output_bpe):
            return None
        weights = active_experts(num_experts, topk, num_tokens) * inter_dim * hidden_dim
        return (num_tokens * inter_dim * topk * input_bpe + weights * weight_bpe
                + num_tokens * hidden_dim * output_bpe)


def moe_params(num_tokens, hidden_dim, inter_dim, num_experts, topk, **more):
    return {"num_tokens": num_tokens, "hidden_dim": hidden_dim, "inter_dim": inter_dim, "num_experts": num_experts,
            "topk": topk, **more}


def unpacked(w1, w2):
    """Hidden width, inner width and gate from weights w1[E, *, K/u] and w2[E, K, N/u] packed by u."""
    _, hidden, packed = w2
    inner = packed * (hidden // w1[-1])
    return hidden, inner, w1[1] == 2 * inner


def aiter_params(event):
    """(input[M, *], w1, w2, routing[M, k])"""
    x, w1, w2, routing = dims(event)[:4]
    hidden, inner, gated = unpacked(w1, w2)
    return moe_params(x[0], hidden, inner, w1[0], routing[1], gated=gated, input_dtype=types(event)[0],
                      weight_dtype=types(event)[1])


class moe_aiter_fused_1stage(FusedMoE):
    @staticmethod
    def get_param_details(event):
        return aiter_params(event)


class moe_aiter_fused_blockscale(FusedMoE):
    """(out[M, K], input, w1, w2, ..., topk at 8)"""

    input_default = 1

    @staticmethod
    def get_param_details(event):
        topk = text_at(event, 8)
        if topk in ("", None):
            raise ValueError("topk was not recorded")
        shapes, dtypes = dims(event), types(event)
        hidden, inner, gated = unpacked(shapes[2], shapes[3])
        return moe_params(shapes[0][0], hidden, inner, shapes[2][0], int(topk), gated=gated, input_dtype=dtypes[1],
                          weight_dtype=dtypes[2], output_dtype=dtypes[0])

    def get_compute_precision(self):
        return "fp8" if self.param_details["input_dtype"] in ("fp8", "bf16") else super().get_compute_precision()


def weight_type(event):
    """The weights' type shows only in the name of the kernel."""
    kernels = event.get("kernel_details")
    if not kernels:
        raise ValueError("Kernel details are needed to tell the weights' type")
    name = kernels[0]["name"].lower()
    if "fp4" in name:
        return "FP4"
    return "FP8" if "fp8" in name or "e4m3" in name else None


def triton_params(event):
    """(input[M, K], routing[*, E]); the inner width is in no argument and taken to be K."""
    (rows, hidden), routing = dims(event)[:2]
    args = event["args"]
    return moe_params(rows, hidden, hidden, routing[1], args["MoE topk"], gated=args["MoE GEMM gated"],
                      input_dtype=types(event)[0], weight_dtype=weight_type(event))


class _Triton:
    precision_of = "weight_dtype"
    input_default = weight_default = None

    @staticmethod
    def get_param_details(event):
        return triton_params(event)

    def bytes(self):
        if None in self._element_sizes():
            raise ValueError(f"element sizes of {self.param_details} are not known")
        return super().bytes()


class moe_triton_unfused_up(_Triton, UnfusedMoE_Up):
    pass


class moe_triton_unfused_down(_Triton, UnfusedMoE_Down):
    pass


def three_types(event):
    return dict(zip(("input_dtype", "weight_dtype", "output_dtype"), types(event)))


class moe_aiter_unfused_up(UnfusedMoE_Up):
    """CK tile, first product: (input[M, K], w1[E, *, *], out[M, k, N])"""

    @staticmethod
    def get_param_details(event):
        (rows, hidden), w1, (_, topk, inner) = dims(event)[:3]
        return moe_params(rows, hidden, inner, w1[0], topk, gated=w1[1] == 2 * inner, **three_types(event))


class moe_aiter_unfused_down(UnfusedMoE_Down):
    """CK tile, second product: (input[M, k, N], w2[E, K, *], out)"""

    @staticmethod
    def get_param_details(event):
        (rows, topk, inner), (experts, hidden, _) = dims(event)[:2]
        return moe_params(rows, hidden, inner, experts, topk, **three_types(event))


class moe_aiter_ck_stage1(UnfusedMoE_Up):
    """(input, w1, w2, ..., out[M, k, N] at 6)"""

    @staticmethod
    def get_param_details(event):
        shapes, dtypes = dims(event), types(event)
        hidden, inner, gated = unpacked(shapes[1], shapes[2])
        return moe_params(shapes[0][0], hidden, inner, shapes[2][0], shapes[6][1], gated=gated, input_dtype=dtypes[0],
                          weight_dtype=dtypes[1])


class moe_aiter_ck_stage2(UnfusedMoE_Down):
    """(input[M, k, N/u], w1, w2[E, K, *])"""

    @staticmethod
    def get_param_details(event):
        (rows, topk, packed), w1, (experts, hidden, _) = dims(event)[:3]
        packing = hidden // w1[-1] if w1 else 1
        return moe_params(rows, hidden, packed * packing, experts, topk, input_dtype=types(event)[0],
                          weight_dtype=types(event)[2])


class _Flydsl:
    precision_of = "weight_dtype"

    @staticmethod
    def get_param_details(event):
        return aiter_params(event)


class moe_flydsl_stage1(_Flydsl, UnfusedMoE_Up):
    pass


class moe_flydsl_stage2(_Flydsl, UnfusedMoE_Down):
    pass


class _FourBitWeights:
    """GPTQ and AWQ: (input[M, K], w1[E, rows, *], w2[E, *, N/2])"""

    weight_default = 0.5

    def get_compute_precision(self):
        return torch_dtype_map(at(self.event["args"].get("Input type"), 0))


class moe_gptq_awq_up(_FourBitWeights, UnfusedMoE_Up):
    @staticmethod
    def get_param_details(event):
        (rows, hidden), w1 = dims(event)[:2]
        gated = event["args"].get("MoE GEMM gated", True)
        return moe_params(rows, hidden, w1[1] // 2 if gated else w1[1], w1[0], event["args"]["MoE topk"], gated=gated,
                          input_dtype=types(event)[0] or "BFloat16")


class moe_gptq_awq_down(_FourBitWeights, UnfusedMoE_Down):
    @staticmethod
    def get_param_details(event):
        (rows, hidden), w2 = dims(event)[0], dims(event)[2]
        return moe_params(rows, hidden, 2 * w2[2], w2[0], event["args"]["MoE topk"],
                          input_dtype=types(event)[0] or "BFloat16")


class moe_triton_invoke_grouped_gemm(_MoE):
    """One product per expert: (input, w[E, N, K], *, out, ..., routing[M, k] at 8)"""

    category = "MoE_unfused"
    precision_of = "weight_dtype"

    @staticmethod
    def get_param_details(event):
        experts, inner, hidden = dims(event)[1]
        tokens, topk = dims(event)[8]
        dtypes = types(event)
        return {"m_work": tokens * topk, "num_tokens": tokens, "topk": topk, "N": inner, "K": hidden,
                "num_experts": experts, "input_dtype": dtypes[0], "weight_dtype": dtypes[1],
                "output_dtype": at(dtypes, 3) or dtypes[0]}

    def flops(self):
        p = self.param_details
        return 2 * p["m_work"] * p["N"] * p["K"]

    def bytes(self):
        p = self.param_details
        size, weight, output = self._element_sizes()
        weights = active_experts(p["num_experts"], p["topk"], p["num_tokens"]) * p["N"] * p["K"] * weight
        return p["m_work"] * p["K"] * size + weights + p["m_work"] * p["N"] * output


class _Routing(Model):
    """Choosing and sorting: one operation per element of the largest tensor; all tensors are moved once."""

    category = "MoE_aux"

    @staticmethod
    def get_param_details(event):
        dtypes = event["args"].get("Input type")
        return {"operands": [(tuple(shape), at(dtypes, slot)) for slot, shape in enumerate(dims(event))
                             if shape and all(isinstance(size, int) for size in shape)]}

    def _largest(self):
        return max(self.param_details["operands"], key=lambda operand: prod(operand[0]), default=((0,), None))

    def flops(self):
        return prod(self._largest()[0])

    def bytes(self):
        operands = self.param_details["operands"]
        return sum(prod(shape) * (name2bpe(dtype) or 0) for shape, dtype in operands) or None

    def get_compute_precision(self):
        return torch_dtype_map(self._largest()[1])

    def get_maf_type(self):
        return "vector"


class BiasedGroupedTopk(_Routing):
    pass


class MoeSortScatterGather(_Routing):
    pass


class sglang_fused_append_shared_experts(BinaryElementwise):
    """The lists of chosen experts and of their weights, each read and written."""

    category = "MoE_aux"
    sheet_category = "MoE_aux"

    @staticmethod
    def get_param_details(event):
        ids = tuple(dims(event)[0])
        dtypes = types(event)
        second = at(dtypes, 1)
        return {"shape_in1": ids, "shape_in2": tuple(at(dims(event), 1) or ids),
                "dtype_in1_in2_out": (dtypes[0], second, second), "stride_input1": stride_if_any(event, 0),
                "stride_input2": stride_if_any(event, 1), "stride_output": None}

    def flops(self):
        return self.nelems_in1

    def bytes(self):
        return 2 * (self.nelems_in1 * (self.bpe_in1 or 4) + self.nelems_in2 * (self.bpe_in2 or 4))

    def get_compute_precision(self):
        return torch_dtype_map(self.dtype_in2)
