"""Kernels that torch.compile generated: `triton_poi_fused_add_mul_0` and the like.

The names of the fused ops give the FLOPs, the recorded arguments the sizes. Where a trace has no arguments, the
wrappers in an Inductor cache folder are read, if one is given or found.
"""

import glob
import os
import re
from math import prod

from ._known_aten_ops import KNOWN_OPS
from ._models.base import Model
from .utils import optional_int

_ALL_KNOWN_OPS = set(KNOWN_OPS)

_WEIGHTS = {
    1: ("add", "sub", "mul", "div", "relu", "mean", "sum", "abs", "neg", "ne", "eq", "lt", "gt"),
    2: ("pow", "sqrt", "rsqrt", "var", "reciprocal"),
    4: ("exp", "log", "sigmoid", "tanh", "silu"),
    8: ("gelu",),
}
_FLOPS_OF = {f"aten.{op}": flops for flops, ops in _WEIGHTS.items() for op in ops}

# Sizes by the exact names that traces of compiled code use; others count nothing.
_BYTES_OF = {"c10::BFloat16": 2, "c10::Half": 2, "c10::Float": 4, "c10::Double": 8, "c10::Byte": 1, "c10::Char": 1,
             "c10::Int": 4, "c10::Long": 8}
_POINTER_BYTES = {"*bf16": 2, "*fp16": 2, "*f16": 2, "*fp32": 4, "*f32": 4, "*i8": 1, "*u8": 1, "*i32": 4, "*i64": 8}

_NAME = re.compile(r"triton_(?:poi|red|per)_fused_(.+)_(\d+)$")


def _parse_kernel_name(name):
    """The fused ops in the name, the longest names that cover it exactly; none if some part is unknown."""
    match = _NAME.match(name)
    if not match:
        return []
    words = match.group(1).split("_")
    if not _ALL_KNOWN_OPS:
        return [f"aten.{word}" for word in words if word]

    def is_op(start, end):
        return "_".join(words[start:end]) in _ALL_KNOWN_OPS

    reachable = [True]
    for end in range(1, len(words) + 1):
        reachable.append(any(reachable[start] and is_op(start, end) for start in range(end)))
    if not reachable[-1]:
        return []
    ops, end = [], len(words)
    while end > 0:
        start = next(start for start in range(end) if reachable[start] and is_op(start, end))
        ops.append("aten." + "_".join(words[start:end]))
        end = start
    return ops[::-1]


def _meta_from_trace_args(event):
    """Sizes from the recorded arguments; None where they do not suffice."""
    args = event.get("args") or {}
    texts, shapes, dtypes = (args.get(key) for key in ("Concrete Inputs", "Input Dims", "Input type"))
    if not texts or not shapes or not dtypes:
        return None
    scalars = [number for number in map(optional_int, texts) if number is not None]
    if not scalars:
        return None
    name = event.get("name", "")
    if name.startswith(("triton_red_", "triton_per_")) and len(scalars) >= 2:
        xnumel, rnumel = scalars[-2:]
    else:
        xnumel, rnumel = scalars[-1], 1
    tensors = [(prod(shape), _BYTES_OF.get(dtype, 0), dtype) for shape, dtype in zip(shapes, dtypes)
               if dtype != "Scalar" and shape]
    total = sum(elements * size for elements, size, _ in tensors)
    if name.startswith("triton_poi_") and tensors:
        total += tensors[0][1] * xnumel  # the result
    dtype = next((dtype.rsplit("::", 1)[-1].lower() for _, size, dtype in tensors if size), None)
    return {"aten_ops": _parse_kernel_name(name), "xnumel": xnumel, "rnumel": rnumel, "total_bytes": total,
            "dtype": dtype}


# --- The Inductor cache ---------------------------------------------------------------------------------

_KERNEL = re.compile(r"^(triton_\w+)\s*=\s*async_compile\.triton\(", re.MULTILINE)
_BLOCK_END = "''', device_str="
_ATEN = re.compile(r"Original ATen:\s*\[([^\]]+)\]")
_HINT_LIST = re.compile(r"size_hints=\[([^\]]+)\]")
_HINT_DICT = re.compile(r"size_hints=\{([^}]+)\}")
_HINT = re.compile(r"'(\w+)':\s*(\d+)")
_SIGNATURE = re.compile(r"'signature':\s*\{([^}]+)\}")
_POINTER = re.compile(r"'(\w+)':\s*'(\*\w+)'")

_cache = {}  # folder -> kernel name -> what its wrapper says


def _cache_dirs(inductor_cache_dir=None):
    """The one that is given, else that of the environment, else the usual ones; existing ones only."""
    given = inductor_cache_dir or os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if given:
        return [given] if os.path.isdir(given) else []
    usual = (os.path.expanduser("~/.cache/torchinductor"), f"/tmp/torchinductor_{os.environ.get('USER', '')}")
    return [folder for folder in usual if os.path.isdir(folder)]


def _size_hints(block):
    listed, named = _HINT_LIST.search(block), _HINT_DICT.search(block)
    if listed:
        numbers = [int(number) for number in re.findall(r"\d+", listed.group(1))]
        return numbers[0], numbers[1] if len(numbers) > 1 else 1
    xnumel, rnumel = 0, 1
    for key, number in _HINT.findall(named.group(1)) if named else ():
        if key == "x":
            xnumel = int(number)
        elif key.startswith("r"):
            rnumel = int(number)
    return xnumel, rnumel


def _parse_wrapper(content):
    """Kernel name -> fused ops, sizes and pointers, from the text of one wrapper."""
    kernels, previous = {}, 0
    for match in _KERNEL.finditer(content):
        end = content.find(_BLOCK_END, match.end())
        if end < 0:
            continue
        block = content[match.start():end]
        ops = _ATEN.search(content, previous, match.start())
        previous = match.start()
        signature = _SIGNATURE.search(block)
        pointers = [(name, kind) for name, kind in _POINTER.findall(signature.group(1) if signature else "")
                    if kind in _POINTER_BYTES]
        xnumel, rnumel = _size_hints(block)
        kernels[match.group(1)] = {
            "aten_ops": [op.strip() for op in ops.group(1).split(",")] if ops else [],
            "xnumel": xnumel,
            "rnumel": rnumel,
            "pointer_bytes": [_POINTER_BYTES[kind] for _, kind in pointers],
            "in_out_extra_bytes": [_POINTER_BYTES[kind] for name, kind in pointers if name.startswith("in_out_")],
            "dtype": pointers[0][1][1:] if pointers else None,
        }
    return kernels


def _wrappers_of(folder):
    if folder not in _cache:
        kernels = _cache[folder] = {}
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.py"), recursive=True)):
            with open(path, encoding="utf-8", errors="replace") as file:
                content = file.read()
            if "async_compile.triton" in content:
                kernels.update(_parse_wrapper(content))
    return _cache[folder]


def _lookup(name, inductor_cache_dir=None):
    """What a cache folder says of a kernel; None if nothing."""
    for folder in _cache_dirs(inductor_cache_dir):
        found = _wrappers_of(folder).get(name)
        if found is not None:
            return found
    return None


def _wrapper_bytes(meta):
    """A reduction writes its last pointer once per row; otherwise every pointer is moved once per element."""
    sizes = meta["pointer_bytes"]
    if not sizes:
        return 0
    if meta["rnumel"] > 1:
        return sum(sizes[:-1]) * meta["xnumel"] * meta["rnumel"] + sizes[-1] * meta["xnumel"]
    return (sum(sizes) + sum(meta["in_out_extra_bytes"])) * meta["xnumel"]


class TritonCompiledPerfModel(Model):
    category = "triton"

    def __init__(self, event, arch=None, python_path=None, inductor_cache_dir=None):
        self.meta = _meta_from_trace_args(event) or _lookup(event.get("name", ""), inductor_cache_dir)
        super().__init__(event, arch, python_path)
        if self.meta:
            self.param_details = {"fused_ops": ", ".join(self.meta["aten_ops"]), "xnumel": self.meta["xnumel"],
                                  "rnumel": self.meta["rnumel"]}

    @staticmethod
    def get_param_details(event):
        return {}

    @staticmethod
    def can_model(event):
        """Whether the recorded arguments give the sizes."""
        return _meta_from_trace_args(event) is not None

    def _known(self):
        if self.meta is None:
            raise NotImplementedError(f"the sizes of {self.event.get('name')} are not known")
        return self.meta

    def flops(self):
        meta = self._known()
        return meta["xnumel"] * meta["rnumel"] * sum(_FLOPS_OF.get(op, 0) for op in meta["aten_ops"])

    def bytes(self):
        meta = self._known()
        return meta["total_bytes"] if "total_bytes" in meta else _wrapper_bytes(meta)

    def flops_bwd(self):
        raise NotImplementedError("the backward pass is a kernel of its own")

    def bytes_bwd(self):
        raise NotImplementedError("the backward pass is a kernel of its own")

    def get_compute_precision(self):
        return self.meta["dtype"] if self.meta else None

    def get_maf_type(self):
        return "vector"
