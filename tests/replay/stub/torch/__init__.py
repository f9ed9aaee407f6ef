"""Just enough of PyTorch for a replay script to choose overloads and build arguments, without PyTorch.

Operators come from schemas.txt: calling one notes its arguments in `calls` and computes nothing.
"""

import contextlib
import pathlib
import re

__version__ = "stub"
calls = []


class dtype:
    def __init__(self, name, itemsize, floating=False, complex_=False):
        self.name, self.itemsize = name, itemsize
        self.is_floating_point, self.is_complex = floating, complex_

    def __repr__(self):
        return f"torch.{self.name}"


for _name, _size in (("float64", 8), ("float32", 4), ("float16", 2), ("bfloat16", 2), ("float8_e4m3fn", 1)):
    globals()[_name] = dtype(_name, _size, floating=True)
for _name, _size in (("int64", 8), ("int32", 4), ("int16", 2), ("int8", 1), ("uint8", 1), ("bool", 1)):
    globals()[_name] = dtype(_name, _size)
for _name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d", "strided"):
    globals()[_name] = f"torch.{_name}"


class device(str):
    @property
    def type(self):
        return str(self)


class Tensor:
    def __init__(self, shape, strides, kind, where="cpu", fill=None, high=None):
        self.shape, self.strides, self.dtype = tuple(shape), tuple(strides), kind
        self.device, self.fill, self.high = device(where), fill, high

    def dim(self):
        return len(self.shape)

    def numel(self):
        count = 1
        for size in self.shape:
            count *= size
        return count

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def to(self, kind):
        return Tensor(self.shape, self.strides, kind, self.device, self.fill, self.high)

    def as_strided(self, shape, strides):
        needed = 1 + sum((size - 1) * step for size, step in zip(shape, strides)) if 0 not in shape else 0
        assert needed <= max(self.numel(), 1), "the view reaches beyond its buffer"
        return Tensor(shape, strides, self.dtype, self.device, self.fill, self.high)


def _flat(fill):
    def make(count, dtype=None, device="cpu"):
        return Tensor([count], [1], dtype, device, fill)
    return make


zeros, randn, rand = _flat("zeros"), _flat("normal"), _flat("uniform")


def randint(low, high, shape, device="cpu"):
    return Tensor(shape, [1], globals()["int64"], device, "range", high)


def arange(count, dtype=None, device="cpu"):
    return Tensor([count], [1], dtype, device, "arange", count)


def tensor(values, dtype=None, device="cpu"):
    return Tensor([len(values)], [1], dtype, device, list(values))


def is_tensor(value):
    return isinstance(value, Tensor)


def manual_seed(seed):
    pass


@contextlib.contextmanager
def no_grad():
    yield


@contextlib.contextmanager
def autocast(where, dtype=None):
    calls.append(("autocast", [dtype], {}))
    yield


class _NoGpu:
    @staticmethod
    def is_available():
        return False


cuda = _NoGpu


# ---------------------------------------------------------------- operators

class _Argument:
    def __init__(self, text, kwarg_only):
        kind, self.name = text.split("=")[0].rsplit(" ", 1)
        self.real_type = self.type = kind
        self.kwarg_only = kwarg_only
        self._default = text.split("=", 1)[1] if "=" in text else None

    def has_default_value(self):
        return self._default is not None

    @property
    def default_value(self):
        return {"None": None, "False": False, "True": True}.get(self._default, self._default)


class _Schema:
    def __init__(self, arguments):
        self.arguments, keyword = [], False
        for item in re.split(r",\s*(?![^\[]*\])", arguments):
            if item == "*":
                keyword = True
            elif item:
                self.arguments.append(_Argument(item, keyword))


class _Overload:
    def __init__(self, name, overload, schema):
        self.name, self._schema = f"{name}.{overload}", schema

    def __str__(self):
        return self.name.replace("::", ".")

    def __call__(self, *positional, **keywords):
        calls.append((self.name, positional, keywords))


class _Packet:
    def __init__(self, name):
        self._name, self._overloads = name, {}

    def overloads(self):
        return list(self._overloads)

    def __getattr__(self, overload):
        return self._overloads[overload]


class _Namespace:
    def __getattr__(self, name):
        raise AttributeError(name)


class _Ops:
    def __getattr__(self, name):
        return _Namespace()


ops = _Ops()
ops.aten = _Namespace()
for _line in (pathlib.Path(__file__).parent / "schemas.txt").read_text().splitlines():
    _match = re.match(r"aten::(\w+)(?:\.(\w+))?\((.*)\) -> ", _line)
    _packet = ops.aten.__dict__.setdefault(_match[1], _Packet(f"aten::{_match[1]}"))
    _packet._overloads[_match[2] or "default"] = _Overload(
        f"aten::{_match[1]}", _match[2] or "default", _Schema(_match[3]))
