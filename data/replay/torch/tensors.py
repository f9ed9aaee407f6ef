# ---------------------------------------------------------------- what profilers write for types and enums

DTYPES = {
    "double": "float64", "float": "float32", "c10::Half": "float16", "c10::BFloat16": "bfloat16",
    "long": "int64", "long int": "int64", "long long": "int64", "int": "int32",
    "short": "int16", "short int": "int16", "signed char": "int8", "char": "int8",
    "unsigned char": "uint8", "unsigned short": "uint16", "unsigned short int": "uint16",
    "short unsigned int": "uint16", "unsigned int": "uint32", "unsigned long": "uint64",
    "unsigned long int": "uint64", "long unsigned int": "uint64", "bool": "bool",
    "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
    "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e4m3fnuz": "float8_e4m3fnuz",
    "c10::Float8_e5m2": "float8_e5m2", "c10::Float8_e5m2fnuz": "float8_e5m2fnuz",
    "c10::Float8_e8m0fnu": "float8_e8m0fnu",
}
SCALAR_TYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64",
    8: "complex32", 9: "complex64", 10: "complex128", 11: "bool", 15: "bfloat16", 23: "float8_e5m2",
    24: "float8_e4m3fn", 25: "float8_e5m2fnuz", 26: "float8_e4m3fnuz", 27: "uint16", 28: "uint32",
    29: "uint64", 44: "float8_e8m0fnu",
}
MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc",
           "jagged")


class Reject(Exception):
    """This overload does not fit the recorded arguments."""


def dtype_of(text):
    name = DTYPES.get(text)
    if name is None:
        raise Reject(f"type '{text}' is unknown")
    dtype = getattr(torch, name, None)
    if dtype is None:
        raise Reject(f"this PyTorch has no {name}")
    return dtype


# ---------------------------------------------------------------- tensors

def storage_size(shape, strides):
    """Elements from the first to the last one that a view touches."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))


def contiguous_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def filled(count, dtype, device, fill):
    """A flat buffer. `fill`: None (no matter), "normal", "probability", ("range", limit) or ("all", value)."""
    if fill is None:
        return torch.zeros(count, dtype=dtype, device=device)
    if fill[0] == "all":
        return torch.full((count,), fill[1], dtype=dtype, device=device)
    if dtype == torch.bool:
        return torch.randint(0, 2, (count,), device=device).to(torch.bool)
    if isinstance(fill, tuple):
        return torch.randint(0, max(fill[1], 1), (count,), device=device).to(dtype)
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.zeros(count, dtype=dtype, device=device)
    wide = dtype if dtype.is_complex or dtype.itemsize > 1 else torch.float32
    if fill == "probability":
        return torch.rand(count, dtype=wide, device=device).to(dtype)
    return torch.randn(count, dtype=wide, device=device).to(dtype)


def make_tensor(shape, strides, dtype, device, fill="normal", least=1):
    """Any strides: overlapping ones (expanded tensors) too, because a flat buffer is filled first, of
    `least` elements or more. It takes the shape itself: some ops do not take views."""
    if len(strides) != len(shape) or any(stride < 0 for stride in strides):
        strides = contiguous_strides(shape)
    return filled(max(storage_size(shape, strides), least), dtype, device, fill).as_strided_(shape, strides)


def even_offsets(parts, total, dtype, device, with_zero):
    """0, total/parts, 2 total/parts, ...: `parts` numbers that divide `total` evenly."""
    count = parts - 1 if with_zero else parts
    ends = [total * (i + 1) // max(count, 1) for i in range(count)]
    return torch.tensor((([0] if with_zero else []) + ends)[:parts], dtype=dtype, device=device)
