"""Grouped matrix products: rows X[M, K] divided among G weights W[G, K, N]."""

from ..utils import name2bpe, torch_dtype_map
from .base import Model, at, dims


def _is_size(value):
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _collect_2d_shapes(obj):
    """Every pair of positive numbers in nested lists, in order."""
    if not isinstance(obj, (list, tuple)):
        return []
    if len(obj) == 2 and all(map(_is_size, obj)):
        return [tuple(obj)]
    return [shape for item in obj for shape in _collect_2d_shapes(item)]


class GroupedGemm(Model):
    category = "GroupedGEMM_fwd"
    bwd_category = "GroupedGEMM_bwd"

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        details = self.param_details
        self.M, self.K, self.N, self.G = (details[name] for name in "MKNG")
        self.bpe_in, self.bpe_out = details["bpe_in"], details["bpe_out"]

    def flops(self):
        return self.flops_func(self.M, self.K, self.N)

    @staticmethod
    def flops_func(M, K, N):
        return 2 * M * K * N

    def bytes(self):
        return self.bytes_func(self.M, self.K, self.N, self.G, self.bpe_in, self.bpe_out)

    @staticmethod
    def bytes_func(M, K, N, G, bpe_in, bpe_out):
        return (M * K + G * K * N) * bpe_in + M * N * bpe_out

    def flops_bwd(self):
        return 2 * self.flops_func(self.M, self.K, self.N)

    def bytes_bwd(self):
        operands = self.M * self.K + self.G * self.K * self.N
        return 2 * self.M * self.N * self.bpe_out + 2 * operands * self.bpe_in

    def get_compute_precision(self):
        return torch_dtype_map(at(self.event["args"].get("Input type"), 0))

    def get_maf_type(self):
        return "matrix"


def element_sizes(event):
    dtypes = event["args"].get("Input type")
    first = at(dtypes, 0)
    second = at(dtypes, 1, first)
    size = name2bpe(first)
    return {"bpe_in": size, "bpe_out": size if second is None else name2bpe(second)}


class _Primus(GroupedGemm):
    def flops_bwd(self):
        raise NotImplementedError("the backward products are ops of their own")

    def bytes_bwd(self):
        raise NotImplementedError("the backward products are ops of their own")


class primus_turbo_grouped_gemm(_Primus):
    """Every group has the same K."""

    @classmethod
    def get_param_details(cls, event):
        found = cls._extract_impl_dims(dims(event)) or cls._extract_zipped_dims(dims(event))
        if found is None:
            raise ValueError(f"grouped GEMM: could not parse the shapes {dims(event)}")
        return {**dict(zip("MKNG", found)), **element_sizes(event)}

    @staticmethod
    def _extract_impl_dims(shapes):
        """[M, K] and [G, K, N] or [G, N, K]."""
        rows, weights = at(shapes, 0) or (), at(shapes, 1) or ()
        if len(rows) < 2 or not all(map(_is_size, rows[:2])) or len(weights) != 3 or not all(map(_is_size, weights)):
            return None
        (m, k), (g, p, q) = rows[:2], weights
        if k not in (p, q):
            return None
        return m, k, q if p == k else p, g

    @staticmethod
    def _extract_zipped_dims(shapes):
        """Lists of [m_i, K] and [K, N]."""
        left, right = _collect_2d_shapes(at(shapes, 0)), _collect_2d_shapes(at(shapes, 1))
        if not left or len(left) != len(right):
            return None
        k, n = left[0][1], right[0][1]
        if any(a[1] != k or b != (k, n) for a, b in zip(left, right)):
            return None
        return sum(a[0] for a in left), k, n, len(left)


class primus_turbo_grouped_gemm_variable_k(_Primus):
    """Every group has sizes of its own."""

    @classmethod
    def get_param_details(cls, event):
        pairs = cls._extract_impl_pairs(dims(event)) or cls._extract_zipped_pairs(dims(event))
        if pairs is None:
            raise ValueError(f"grouped GEMM with variable K: could not parse the shapes {dims(event)}")
        (_, k), (_, n) = pairs[0]
        return {"M": sum(a[0] for a, _ in pairs), "K": k, "N": n, "G": len(pairs), **element_sizes(event),
                "group_pairs": pairs}

    @staticmethod
    def _extract_impl_pairs(shapes):
        """[M, K] and [*, N], as one product."""
        a, b = at(shapes, 0) or (), at(shapes, 1) or ()
        if len(a) != 2 or len(b) != 2 or not all(map(_is_size, (*a, *b))):
            return None
        return [(tuple(a), (a[1], b[1]))]

    @staticmethod
    def _extract_zipped_pairs(shapes):
        """Lists of [m_i, k_i] and [k_i, n_i]."""
        left, right = _collect_2d_shapes(at(shapes, 0)), _collect_2d_shapes(at(shapes, 1))
        if not left or len(left) != len(right) or any(a[1] != b[0] for a, b in zip(left, right)):
            return None
        return list(zip(left, right))

    def flops(self):
        return sum(self.flops_func(m, k, n) for (m, k), (_, n) in self.param_details["group_pairs"])

    def bytes(self):
        if self.bpe_in is None or self.bpe_out is None:
            return None
        return sum(self.bytes_func(m, k, n, 1, self.bpe_in, self.bpe_out)
                   for (m, k), (_, n) in self.param_details["group_pairs"])
