from jax import Array

for _name in ("int4", "int8", "int16", "int32", "int64", "uint4", "uint8", "uint16", "uint32", "uint64",
              "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "float8_e5m2",
              "float8_e4m3fn", "bool_"):
    globals()[_name] = _name


def full(shape, value, dtype):
    return Array(shape, dtype, value=value)


def zeros(shape, dtype):
    return Array(shape if isinstance(shape, tuple) else (shape,), dtype)


def ones(shape, dtype):
    return Array(shape, dtype)


def copy(value):
    return Array(value.shape, value.dtype, fill="copy")


def broadcast_to(value, shape):
    return Array(shape, value.dtype)


def swapaxes(value, a, b):
    shape = list(value.shape)
    shape[a], shape[b] = shape[b], shape[a]
    return Array(shape, value.dtype)
