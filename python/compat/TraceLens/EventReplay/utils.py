"""Tensors by their description, and how long a call takes. Needs nothing but PyTorch: scripts copy this file."""

import time
from dataclasses import dataclass
from typing import List, Optional

# What profilers call the types of tensors, and what PyTorch does.
DTYPES = {
    "bool": "bool", "unsigned char": "uint8", "signed char": "int8", "char": "int8", "short": "int16",
    "short int": "int16", "int": "int32", "long": "int64", "long int": "int64", "double": "float64",
    "float": "float32", "c10::Half": "float16", "c10::BFloat16": "bfloat16",
    "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
    "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e4m3fnuz": "float8_e4m3fnuz",
    "c10::Float8_e5m2": "float8_e5m2", "c10::Float8_e5m2fnuz": "float8_e5m2fnuz",
    "c10::Float8_e8m0fnu": "float8_e8m0fnu",
}
list_profile_tensor_types = list(DTYPES)

# Enums are recorded as their numbers.
SCALAR_TYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64", 8: "complex32",
    9: "complex64", 10: "complex128", 11: "bool", 15: "bfloat16", 23: "float8_e5m2", 24: "float8_e4m3fn",
    25: "float8_e5m2fnuz", 26: "float8_e4m3fnuz", 27: "uint16", 28: "uint32", 29: "uint64", 44: "float8_e8m0fnu",
}
MEMORY_FORMATS = dict(enumerate(("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")))
LAYOUTS = dict(enumerate(("strided", "sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc",
                          "jagged")))
ENUMS = {"ScalarType": SCALAR_TYPES, "MemoryFormat": MEMORY_FORMATS, "Layout": LAYOUTS}


def _get_torch_or_raise():
    try:
        import torch
    except ImportError:
        raise ImportError("PyTorch is required for EventReplayer functionality that is being used. "
                          "Please install PyTorch.") from None
    return torch


@dataclass
class TensorCfg:
    """A tensor to be made. `init`: "normal" for random values, None where they do not matter."""

    shape: List[int]
    dtype: str
    strides: Optional[List[int]]
    init: Optional[str] = "normal"


def build_tensor(cfg, device="cuda"):
    """Any strides, those of expanded tensors too: a flat buffer is filled first and then viewed.

    Whole numbers are 0, which is valid as an index, an offset and a label.
    """
    torch = _get_torch_or_raise()
    dtype = getattr(torch, DTYPES.get(cfg.dtype, ""), None)
    if dtype is None:
        raise ValueError(f"tensors of type {cfg.dtype!r} cannot be made")
    shape, strides = list(cfg.shape), cfg.strides
    if strides is None or len(strides) != len(shape):
        strides = [1] * len(shape)
        for i in range(len(shape) - 2, -1, -1):
            strides[i] = strides[i + 1] * max(shape[i + 1], 1)
    count = 0 if 0 in shape else 1 + sum((size - 1) * step for size, step in zip(shape, strides))
    count = max(count, 1)
    if cfg.init is None or not (dtype.is_floating_point or dtype.is_complex):
        buffer = torch.zeros(count, dtype=dtype, device=device)
    else:  # 8-bit types have no random numbers of their own
        wide = dtype if dtype.is_complex or dtype.itemsize > 1 else torch.float32
        buffer = torch.randn(count, dtype=wide, device=device).to(dtype)
    return buffer.as_strided(shape, strides)


def build_argument(arg_type, value, device="cuda"):
    """A described argument as what the op takes: a tensor, a list of them, a member of an enum, a number."""
    if isinstance(value, TensorCfg):
        return build_tensor(value, device)
    if isinstance(value, list):
        return [build_argument(arg_type, item, device) for item in value]
    kind = arg_type.rstrip("?")
    if kind == "Device":
        return None if value is None else device
    if kind in ENUMS and value is not None:
        return getattr(_get_torch_or_raise(), ENUMS[kind][value])
    return value


def benchmark_func(func, device="cuda", warmup=50, avg_steps=100):
    """Mean microseconds of a call, after some calls to warm up."""
    torch = _get_torch_or_raise()

    def wait():
        if str(device).startswith("cuda"):
            torch.cuda.synchronize(device)

    for _ in range(warmup):
        func()
    wait()
    start = time.perf_counter()
    for _ in range(avg_steps):
        func()
    wait()
    return (time.perf_counter() - start) / avg_steps * 1e6
