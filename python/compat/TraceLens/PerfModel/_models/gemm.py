"""Dense matrix products: out[M, N] = A[M, K] x B[K, N] (+ bias).

FLOPs = 2*M*N*K, and M*N more for a bias; bytes = A, B, out and bias, each moved once.
"""

import sys
import warnings

from ..kernel_name_parser import gemm_name_parser
from ..utils import name2bpe, torch_dtype_map
from . import simulation
from .base import Model, dims, stride_if_recorded, types


class GEMM(Model):
    """A subclass gives M, N, K, bias and dtype_A_B, and the element sizes to `bytes`."""

    category = "GEMM"
    cache_gemm_results = {}  # simulated times by command
    _origami_import_error_printed = False

    def __init__(self, event, arch=None, python_path=None, enable_origami=False):
        super().__init__(event, arch, python_path)
        self.enable_origami = enable_origami
        details = self.param_details
        self.M, self.N, self.K = details["M"], details["N"], details["K"]
        self.bias = details["bias"]
        self.B = details.setdefault("B", 1)
        transpose = transpose_of(event)
        if transpose is not None:
            details["transpose"] = transpose

    def flops(self):
        return self.flops_func(self.M, self.N, self.K, self.bias)

    @staticmethod
    def flops_func(M, N, K, bias):
        return 2 * M * N * K + (M * N if bias else 0)

    def bytes(self, bpe_mat1=None, bpe_mat2=None, bpe_bias=None, bpe_output=None):
        return self.bytes_func(self.M, self.N, self.K, self.bias, bpe_mat1, bpe_mat2, bpe_bias, bpe_output)

    @staticmethod
    def bytes_func(M, N, K, bias, bpe_mat1, bpe_mat2, bpe_bias, bpe_output):
        if None in (bpe_mat1, bpe_mat2, bpe_bias, bpe_output):
            return None
        return M * K * bpe_mat1 + K * N * bpe_mat2 + M * N * bpe_output + (N * bpe_bias if bias else 0)

    def flops_bwd(self):
        """Two products: the gradients of A and of B; and the sum for the bias."""
        products = 2 * self.flops_func(self.M, self.N, self.K, False)
        return products + (self.M * self.N if self.bias else 0)

    def bytes_bwd(self, bytes_per_element):
        grad_and_matrices = 2 * (self.M * self.N + self.M * self.K + self.K * self.N)
        return (grad_and_matrices + (self.N if self.bias else 0)) * bytes_per_element

    def get_compute_precision(self):
        dtypes = self.param_details.get("dtype_A_B")
        return torch_dtype_map(dtypes[0]) if dtypes else None

    def get_maf_type(self):
        return "matrix"

    def get_simulation_time(self):
        if not self.arch:
            return None
        dtype = self.param_details.get("simulation_dtype") or self.get_compute_precision()
        return self.get_simulation_time_func(self.arch, self.M, self.N, self.K, self.B, dtype,
                                             python_path=self.python_path,
                                             enable_origami=self.enable_origami)[0]

    @staticmethod
    def get_simulation_time_func(arch, M, N, K, B, dtype, python_path=None, force_to_l1=False, num_cus=None,
                                 enable_origami=False):
        """(microseconds, command); (None, None) where there is no simulator to ask."""
        time, command = simulation.gemm_time(arch, (B, M, N, K), dtype, python_path, force_to_l1, num_cus,
                                             GEMM.cache_gemm_results)
        if time is None and enable_origami and not GEMM._origami_import_error_printed:
            GEMM._origami_import_error_printed = True
            print("Origami is not supported here: set GEMM_SIMULATOR_PATH for simulated times", file=sys.stderr)
        return time, command


def transpose_of(event):
    """(A transposed?, B transposed?) in the order of BLAS, by the first kernel whose name tells."""
    names = event.get("kernel_names") or [kernel["name"] for kernel in event.get("kernel_details") or ()]
    for name in names:
        parsed = gemm_name_parser(name)
        if parsed is not None:
            return parsed["transpose"]
    return None


class NoBackward:
    """A forward model whose backward products are ops of their own."""

    def flops_bwd(self):
        raise NotImplementedError("the backward products are ops of their own")

    def bytes_bwd(self, bytes_per_element=None):
        raise NotImplementedError("the backward products are ops of their own")


def size_of_a(dtypes):
    """The element size of the first operand, which stands for all (with a warning if they differ)."""
    a, b = dtypes[0], dtypes[1]
    if a != b:
        warnings.warn(f"operands of types {a} and {b}: the size of the first is taken for both")
    return name2bpe(a)


def matrix_params(event, a, b, bias):
    left, right = dims(event)[a], dims(event)[b]
    return {
        "M": left[0],
        "N": right[1],
        "K": left[1],
        "bias": bias,
        "stride_A": stride_if_recorded(event, a),
        "stride_B": stride_if_recorded(event, b),
        "dtype_A_B": tuple(types(event)[a:b + 1]),
    }


def batch_params(event, a, b, bias):
    left, right = dims(event)[a], dims(event)[b]
    if len(left) != 3 or len(right) != 3:
        raise ValueError(f"expected two batches of matrices, got {left} and {right}")
    batch, rows, inner = left
    return {
        "B": batch,
        "M": rows,
        "N": right[2],
        "K": inner,
        "bias": bias,
        "stride_A": stride_if_recorded(event, a),
        "stride_B": stride_if_recorded(event, b),
        "dtype_A_B": tuple(types(event)[a:b + 1]),
    }


class _OneSize(NoBackward, GEMM):
    """All matrices count with the element size of A."""

    def bytes(self):
        size = size_of_a(self.param_details["dtype_A_B"])
        return super().bytes(size, size, size, size)


class _Batched(_OneSize):
    def flops(self):
        return self.B * super().flops()

    def bytes(self):
        one = super().bytes()
        return None if one is None else self.B * one


class aten_mm(_OneSize):
    @staticmethod
    def get_param_details(event):
        return matrix_params(event, 0, 1, bias=False)


class aten_addmm(_OneSize):
    @staticmethod
    def get_param_details(event):
        return matrix_params(event, 1, 2, bias=True)


class aten_bmm(_Batched):
    @staticmethod
    def get_param_details(event):
        return batch_params(event, 0, 1, bias=False)


class aten_baddbmm(_Batched):
    @staticmethod
    def get_param_details(event):
        return batch_params(event, 1, 2, bias=True)
