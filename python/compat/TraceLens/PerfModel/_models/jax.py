"""Models of XLA's library calls, bound by the JAX analyzer and not by op names."""

import warnings

from .attention import BNHD, SDPA, extract_sdpa_cfg
from .base import dims, types
from .conv import CONV, conv_kind
from .gemm import GEMM, NoBackward

_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "f8": 1, "fp8": 1}
_SIMULATED = {"f32": "fp32", "f16": "fp16", "bf16": "bf16", "f8": "fp8", "fp8": "fp8"}
_TORCH = {"f32": "float", "f64": "double", "f16": "c10::half", "bf16": "c10::bfloat16",
          "f8": "c10::float8_e4m3fnuz", "fp8": "fp8"}


def jax_dtype2bpe(name):
    return _BYTES.get(name.lower()) if name else None


def jax_dtype_map(name):
    """The simulator's name of an XLA type."""
    return _SIMULATED.get(name.lower()) if name else None


def dtype_jax2torch(name):
    return _TORCH.get(name.lower()) if name else None


class jax_gemm(NoBackward, GEMM):
    @staticmethod
    def get_param_details(event):
        args = event["args"]
        dtype = args["Type"]
        return {"B": args["Batch"], "M": args["M"], "N": args["N"], "K": args["K"], "bias": args["Beta"] != 0,
                "dtype_A_B": (dtype, dtype), "simulation_dtype": jax_dtype_map(dtype)}

    def flops(self):
        return self.B * super().flops()

    def bytes(self):
        a, b = self.param_details["dtype_A_B"]
        if a != b:
            warnings.warn(f"operands of types {a} and {b}: the size of the first is taken for both")
        size = jax_dtype2bpe(a)
        one = super().bytes(size, size, size, size)
        return None if one is None else self.B * one

    def get_compute_precision(self):
        return self.param_details["simulation_dtype"]


class jax_te_fused_attn(SDPA):
    @staticmethod
    def get_param_details(event):
        dtypes = types(event)
        return {**extract_sdpa_cfg(*dims(event)[:3], BNHD), "bias": tuple(event["args"]["Concrete Inputs"][:1]),
                "dtype_A_B": tuple(dtype_jax2torch(name) for name in dtypes[:2]), "causal": False,
                "flash_impl": True, "fused": True, "bytes_per_element": jax_dtype2bpe(dtypes[0])}

    def bytes(self, bytes_per_element=None):
        return super().bytes(bytes_per_element or self.param_details["bytes_per_element"])

    def bytes_bwd(self, bytes_per_element=None):
        return super().bytes_bwd(bytes_per_element or self.param_details["bytes_per_element"])


class jax_conv(CONV):
    @staticmethod
    def get_param_details(event):
        input_shape = tuple(dims(event)[0])
        return {"convNd": conv_kind(input_shape), "input_shape": input_shape,
                "filter_shape": tuple(event["args"]["Filter Shape"]),
                "output_shape": tuple(event["args"]["Output Dims"][0]), "bias": len(dims(event)) == 3,
                "bytes_per_element": jax_dtype2bpe(types(event)[0]), "transposed_conv": False}

    def _size(self, given):
        return given if given is not None else self.param_details["bytes_per_element"]
