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
        self.requires_grad, self.grad_fn, self.grad = False, None, None
        self.elements, self.is_view = max(self.numel(), 1), False  # of its memory

    def dim(self):
        return len(self.shape)

    def numel(self):
        count = 1
        for size in self.shape:
            count *= size
        return count

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def stride(self):
        return self.strides

    def transpose(self, first, second):
        shape, strides = list(self.shape), list(self.strides)
        for each in (shape, strides):
            each[first], each[second] = each[second], each[first]
        return Tensor(shape, strides, self.dtype, self.device, self.fill, self.high)

    def contiguous(self):
        strides, step = [], 1
        for size in reversed(self.shape):
            strides.insert(0, step)
            step *= size
        return Tensor(self.shape, strides, self.dtype, self.device, self.fill, self.high)

    def to(self, kind):
        return Tensor(self.shape, self.strides, kind, self.device, self.fill, self.high)

    def reshape(self, shape):
        return Tensor(shape, [1] * len(shape), self.dtype, self.device, self.fill, self.high)

    def __mod__(self, limit):
        return Tensor(self.shape, self.strides, self.dtype, self.device, "cycle", limit)

    def __lt__(self, limit):
        return Tensor(self.shape, self.strides, globals()["bool"], self.device, "first", limit)

    def view(self, shape):
        return Tensor(shape, self.strides, self.dtype, self.device, "view")._as_view()

    def _as_view(self):
        self.is_view = True
        return self

    def clamp(self, max):
        return Tensor(self.shape, self.strides, self.dtype, self.device, "upto", max)

    def __mul__(self, other):
        return Tensor(self.shape, self.strides, self.dtype, self.device, "spread", other)

    def __add__(self, other):
        return self

    __floordiv__ = __add__

    def detach(self):
        return Tensor(self.shape, self.strides, self.dtype, self.device, self.fill, self.high)

    def requires_grad_(self):
        self.requires_grad = True

    def clone(self):
        copy = self.detach()
        copy.requires_grad, copy.grad_fn = self.requires_grad, Node("CloneBackward0", [])
        return copy

    def is_contiguous(self):
        return 0 not in self.strides

    def view_as(self, other):
        view = self.detach()
        view.grad_fn = Node("ViewBackward0", [Node("torch::autograd::AccumulateGrad", [])])
        return view

    def as_strided(self, shape, strides):
        return Tensor(shape, strides, self.dtype, self.device, self.fill, self.high)._as_view()

    def as_strided_(self, shape, strides):
        needed = 1 + sum((size - 1) * step for size, step in zip(shape, strides)) if 0 not in shape else 0
        assert needed <= self.elements, "the tensor reaches beyond its buffer"
        self.shape, self.strides = tuple(shape), tuple(strides)
        return self


class Node:
    """Of autograd: calling it notes the gradients, after one product for each matrix that needs one."""

    def __init__(self, name, following, matrices=0):
        self._name, self.next_functions = name, [(each, 0) for each in following]
        self.matrices = matrices

    def name(self):
        return self._name

    def __call__(self, *gradients):
        calls.extend([("aten::mm", gradients, {})] * self.matrices)
        calls.append((self._name, gradients, {}))


def _flat(fill):
    def make(count, dtype=None, device="cpu"):
        shape = [count] if isinstance(count, int) else list(count)
        return Tensor(shape, [1] * len(shape), dtype, device, fill)
    return make


zeros, randn, rand = _flat("zeros"), _flat("normal"), _flat("uniform")


def randint(low, high, shape, device="cpu"):
    return Tensor(shape, [1], globals()["int64"], device, "range", high)


def arange(count, dtype=None, device="cpu"):
    return Tensor([count], [1], dtype, device, "arange", count)


def full(shape, value, dtype=None, device="cpu"):
    return Tensor(shape, [1], dtype, device, "all", value)


def empty_like(other):
    return Tensor(other.shape, other.strides, other.dtype, other.device, "empty")


def cat(tensors, dim=0):
    first = tensors[0]
    return Tensor([first.shape[0], sum(each.shape[1] for each in tensors)], [1, 1], first.dtype,
                  first.device, "cat")


def tensor(values, dtype=None, device="cpu"):
    return Tensor([len(values)], [1], dtype, device, list(values))


def is_tensor(value):
    return isinstance(value, Tensor)


def manual_seed(seed):
    pass


@contextlib.contextmanager
def no_grad():
    yield


enable_grad = no_grad


@contextlib.contextmanager
def set_grad_enabled(mode):
    calls.append(("set_grad_enabled", [mode], {}))
    yield


class backends:
    class cuda:
        class matmul:
            allow_tf32 = False


@contextlib.contextmanager
def autocast(where, dtype=None):
    calls.append(("autocast", [dtype], {}))
    yield


class _NoGpu:
    @staticmethod
    def is_available():
        return False


cuda = _NoGpu


class version:
    hip = None


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
        by_place = [argument for argument in self._schema.arguments if not argument.kwarg_only]
        if len(positional) > len(by_place):
            raise TypeError(f"{self.name} takes {len(by_place)} arguments by position, {len(positional)} were given")
        calls.append((self.name, positional, keywords))
        given = [each for each in [*positional, *keywords.values()] if is_tensor(each)]
        if not any(each.requires_grad for each in given):
            return None
        for argument, each in zip(self._schema.arguments, positional):
            if argument.name.startswith("running_") and each is not None and each.requires_grad:
                raise RuntimeError(f"not differentiable with respect to argument '{argument.name}'.")
        base = self.name.split("::")[1].split(".")[0].rstrip("_")
        result = given[0].detach()
        result.grad_fn = Node("".join(map(str.capitalize, base.split("_"))) + "Backward0",
                              [each.grad_fn for each in given if each.grad_fn],
                              sum(each.requires_grad and each.dim() == 2 for each in given))
        return result


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
        return self.__dict__.setdefault(name, _Namespace())


ops = _Ops()
for _line in (pathlib.Path(__file__).parent / "schemas.txt").read_text().splitlines():
    _space, _name, _overload, _arguments = re.match(
        r"(\w+)::(\w+)(?:\.(\w+))?\((.*)\) -> ", _line).groups()
    _packet = getattr(ops, _space).__dict__.setdefault(_name, _Packet(f"{_space}::{_name}"))
    _packet._overloads[_overload or "default"] = _Overload(
        f"{_space}::{_name}", _overload or "default", _Schema(_arguments))
