"""Matrix products of scaled, packed or otherwise quantised operands."""

from math import ceil

from ..utils import name2bpe, parse_bool
from .base import at, dims, stride_if_any, stride_if_recorded, text_at, types
from .gemm import GEMM, NoBackward, matrix_params


def known_size(name):
    size = name2bpe(name)
    if size is None:
        raise ValueError(f"the element size of {name!r} is not known")
    return size


class aten_scaled_mm(NoBackward, GEMM):
    @staticmethod
    def get_param_details(event):
        return matrix_params(event, 0, 1, bias=len(dims(event)) == 3)

    def bytes(self):
        """8-bit operands give a 16-bit result; wider ones a result of their own size."""
        dtypes = self.param_details["dtype_A_B"]
        known_size(dtypes[1])
        size = known_size(dtypes[0])
        return super().bytes(size, size, size, {1: 2, 2: 2, 4: 4}.get(size))


class vllm_gemm_with_dynamic_quant(GEMM):
    """x[M, K] with a packed weight [N, K/2]; the other arguments are scales."""

    @staticmethod
    def get_param_details(event):
        shapes = dims(event)
        matrices = [shape for shape in shapes if len(shape) == 2][:2]
        if len(matrices) < 2:
            matrices = shapes[:2]
        if len(matrices) < 2 or any(len(shape) != 2 for shape in matrices):
            raise ValueError(f"expected two matrices, got {shapes}")
        dtypes = event["args"].get("Input type")
        if not isinstance(dtypes, (list, tuple)) or len(dtypes) < 2:
            raise ValueError("missing A,B dtypes")
        (rows, inner), weight = matrices
        return {
            "M": rows,
            "N": weight[0],
            "K": inner,
            "bias": False,
            "stride_A": stride_if_recorded(event, 0),
            "stride_B": stride_if_recorded(event, 1),
            "dtype_A_B": tuple(dtypes[:2]),
        }

    def bytes(self):
        size = name2bpe(self.param_details["dtype_A_B"][0])
        return super().bytes(size, size, size, size)


class tex_ts_te_gemm_ts(NoBackward, GEMM):
    """Transformer Engine's product: A 0, B 5, out 10, bias 18; flags at 4, 9 and 14."""

    @staticmethod
    def get_param_details(event):
        a, b = dims(event)[0], dims(event)[5]
        transposed = text_at(event, 4) == "1"
        rows, inner = (a[0], a[1]) if transposed else (a[1], a[0])
        dtypes = types(event)
        return {
            "M": rows,
            "N": b[1] if text_at(event, 9) == "1" else b[0],
            "K": inner,
            "bias": text_at(event, 14) != "",
            "stride_A": stride_if_recorded(event, 0),
            "stride_B": stride_if_recorded(event, 5),
            "dtype_A_B": (dtypes[0], dtypes[5], dtypes[10], dtypes[18]),
        }

    def bytes(self):
        a, b, out, bias = map(name2bpe, self.param_details["dtype_A_B"])
        return super().bytes(a, b, bias, out)


class tev2_pseudo_gemm(NoBackward, GEMM):
    """The products inside Transformer Engine's modules, put into the tree as ops; 16-bit results."""

    @staticmethod
    def get_param_details(event):
        return matrix_params(event, 0, 1, bias=False)

    def bytes(self):
        a, b = self.param_details["dtype_A_B"]
        if a != b:
            raise ValueError(f"operands of different types {a} and {b}")
        size = name2bpe(a)
        return super().bytes(size, size, size, 2)


def scaled_params(event, a, b, scale_a, scale_b, sizes):
    rows, columns, inner = sizes
    dtypes = types(event)
    return {
        "M": rows,
        "N": columns,
        "K": inner,
        "bias": False,
        "stride_A": stride_if_any(event, a),
        "stride_B": stride_if_any(event, b),
        "dtype_A_B": (dtypes[a], dtypes[b]),
        "dtype_scaleA": at(dtypes, scale_a),
        "dtype_scaleB": at(dtypes, scale_b),
    }


def hipblaslt_sizes(event):
    """M, N, K of (A, scaleA, B, scaleB, type, transA, transB, transC, ...)."""
    a, b = dims(event)[0], dims(event)[2]
    trans_a, trans_b, trans_c = (parse_bool(text_at(event, slot)) for slot in (5, 6, 7))
    if trans_c:  # C' = B' x A'
        a, b, trans_a, trans_b = b, a, not trans_b, not trans_a
    rows, inner = (a[1], a[0]) if trans_a else (a[0], a[1])
    return rows, b[0] if trans_b else b[1], inner


class hipblaslt_gemm_fp8(NoBackward, GEMM):
    @staticmethod
    def get_param_details(event):
        return scaled_params(event, 0, 2, 1, 3, hipblaslt_sizes(event))

    def bytes(self):
        a, b = map(known_size, self.param_details["dtype_A_B"])
        return super().bytes(a, b, a, 2 if a == 1 else a)


def mxfp4_bytes(M, N, K, details):
    """Packed pairs of operands, one scale for 32 values, a 16-bit result."""
    a, b = map(known_size, details["dtype_A_B"])
    scale_a, scale_b = (name2bpe(details[key]) or 1 for key in ("dtype_scaleA", "dtype_scaleB"))
    blocks = ceil(K / 32)
    return (M * a + N * b) * (K // 2) + (M * scale_a + N * scale_b) * blocks + 2 * M * N


class hipblaslt_gemm_fp4(NoBackward, GEMM):
    @staticmethod
    def get_param_details(event):
        rows, columns, packed = hipblaslt_sizes(event)
        return scaled_params(event, 0, 2, 1, 3, (rows, columns, 2 * packed))

    def bytes(self):
        return mxfp4_bytes(self.M, self.N, self.K, self.param_details)


class aiter_gemm_a4w4(GEMM):
    """A[M, K/2] x B[N, K/2]' with their scales."""

    @staticmethod
    def get_param_details(event):
        a, b = dims(event)[0], dims(event)[1]
        return scaled_params(event, 0, 1, 2, 3, (a[0], b[0], 2 * a[1]))

    def bytes(self):
        return mxfp4_bytes(self.M, self.N, self.K, self.param_details)
