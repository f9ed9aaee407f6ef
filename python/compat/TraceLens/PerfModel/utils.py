"""Data types by their trace names, and the small parsers that several models share."""

import math

_BYTES = {
    8: ("double", "long int"),
    4: ("float", "scalar", "int"),
    2: ("c10::half", "c10::bfloat16"),
    # A pair of FP4 values fills one byte; traced shapes already count the pairs.
    1: ("c10::float8_e4m3fnuz", "c10::float8_e4m3fn", "c10::float8_e5m2", "c10::float8_e8m0fnu",
        "unsigned char", "signed char", "fp8", "c10::float4_e2m1fn_x2", "fp4"),
}
_BYTES_OF = {name: size for size, names in _BYTES.items() for name in names}

_PRECISIONS = {
    "fp64": ("double",),
    "fp32": ("float",),
    "fp16": ("c10::half",),
    "bf16": ("c10::bfloat16",),
    "fp8": ("c10::float8_e4m3fnuz", "c10::float8_e4m3fn", "unsigned char", "fp8"),
    "fp4": ("fp4", "mxfp4", "c10::float4_e2m1fn_x2"),
}
_PRECISION_OF = {name: precision for precision, names in _PRECISIONS.items() for name in names}

_TRACE_NAMES = {"fp32": "float", "fp64": "double", "fp16": "c10::half", "bf16": "c10::bfloat16",
                "fp8": "c10::float8_e4m3fnuz"}


def name2bpe(name):
    """Bytes per element of a type as traces name it (any case); None when it is not known."""
    return _BYTES_OF.get(name.lower()) if name else None


def torch_dtype_map(name):
    """The precision (fp32, bf16, ...) that rooflines are looked up by; None when it has none."""
    return _PRECISION_OF.get(name.lower()) if name else None


def simulation_dtype_map(precision):
    """The trace name of a precision: the way back from `torch_dtype_map`."""
    return _TRACE_NAMES.get(precision.lower()) if precision else None


def optional_int(value, default=None):
    try:
        return int(value)
    except (TypeError, ValueError):
        return default


def optional_float(value, default=0.0):
    """A number as traces print it ("0.", "1e-05"); what is no number is the default."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return default


def parse_bool(value):
    """Booleans in any dress: True, "true", "1", 1; an unknown word counts as true."""
    if isinstance(value, str):
        return value.strip().lower() not in ("", "false", "0")
    return bool(value)


def gemm_tflops(M, N, K, time_ms):
    """TFLOP/s of a matrix product that took `time_ms` milliseconds."""
    return 2 * M * N * K / (time_ms * 1e-3) / 1e12


def add_simulation_time_columns(metrics, simulated_time, gflops, bytes_moved, busy_kernel_time):
    """Adds the columns of a simulated time (microseconds) to a row; none without such a time."""
    if not simulated_time:
        return
    seconds = simulated_time / 1e6
    metrics["Origami Time (µs)"] = simulated_time
    metrics["Origami TFLOPS/s"] = gflops / 1e3 / seconds
    metrics["Origami TB/s"] = math.nan if bytes_moved is None else bytes_moved / 1e12 / seconds
    metrics["Pct Origami"] = simulated_time / busy_kernel_time * 100 if busy_kernel_time > 0 else math.nan
