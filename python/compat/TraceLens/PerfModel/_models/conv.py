"""Convolutions: input (batch, channels, ...), filter (out, in per group, ...), output.

FLOPs = 2 * one filter * elements of the output (of the input when transposed), and one per output
element for a bias. Groups need no term: the filter already holds the channels of one group only.
"""

import warnings
from math import prod

from ..utils import name2bpe, torch_dtype_map
from .base import Model, at, bool_literal, concrete, dims, stride_if_any, stride_if_recorded, types

_KINDS = {3: "conv1d", 4: "conv2d", 5: "conv3d"}


class CONV(Model):
    category = "CONV_fwd"
    bwd_category = "CONV_bwd"

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        details = self.param_details
        self.x_shape, self.w_shape = details["input_shape"], details["filter_shape"]
        self.bias = details["bias"]
        self.transposed_conv = details["transposed_conv"]
        self.out_shape = details.get("output_shape") or details.get("out_shape")
        if self.out_shape is None and self.x_shape is not None:
            self.out_shape = self.get_output_shape(self.x_shape, self.w_shape, details["stride"], details["padding"],
                                                   details["dilation"], self.transposed_conv,
                                                   details["output_padding"])

    @staticmethod
    def get_output_shape(input_shape, filter_shape, stride, padding, dilation, transposed, output_padding):
        def size(i):
            length, kernel = input_shape[i + 2], dilation[i] * (filter_shape[i + 2] - 1)
            if transposed:
                return (length - 1) * stride[i] - 2 * padding[i] + kernel + output_padding[i] + 1
            return int((length + 2 * padding[i] - kernel - 1) / stride[i] + 1)

        channels = filter_shape[1 if transposed else 0]
        return (input_shape[0], channels) + tuple(size(i) for i in range(len(input_shape) - 2))

    def flops(self):
        return self.flops_func(self.x_shape, self.w_shape, self.out_shape, self.bias, self.transposed_conv)

    @staticmethod
    def flops_func(x_shape, w_shape, out_shape, bias, transposed_conv=False):
        applied = prod(x_shape if transposed_conv else out_shape)
        return applied * 2 * prod(w_shape[1:]) + (prod(out_shape) if bias else 0)

    def bytes(self, bytes_per_element=None):
        return self.bytes_func(self.x_shape, self.w_shape, self.out_shape, self.bias,
                               self._size(bytes_per_element))

    @staticmethod
    def bytes_func(x_shape, w_shape, out_shape, bias, bytes_per_element):
        if bytes_per_element is None:
            return None
        return (prod(x_shape) + prod(w_shape) + (out_shape[1] if bias else 0) + prod(out_shape)) * bytes_per_element

    def flops_bwd(self):
        return self.flops_bwd_func(self.out_shape, self.x_shape, self.w_shape, self.bias, self.transposed_conv)

    @staticmethod
    def flops_bwd_func(out_shape, x_shape, w_shape, bias, transposed_conv=False):
        """The gradients of the input and of the filter, and the sum for the bias."""
        of = x_shape if transposed_conv else out_shape
        for_input = prod(of) * 2 * prod(w_shape[1:])
        for_filter = 2 * prod(w_shape) * of[0] * prod(of[2:])
        return for_input + for_filter + (prod(out_shape) if bias else 0)

    def bytes_bwd(self, bytes_per_element=None):
        return self.bytes_bwd_func(self.x_shape, self.w_shape, self.out_shape, self.bias,
                                   self._size(bytes_per_element))

    @staticmethod
    def bytes_bwd_func(x_shape, w_shape, out_shape, bias, bytes_per_element):
        if bytes_per_element is None:
            return None
        # The reference counts the gradient of the bias in elements, whatever their size.
        of_bias = prod(out_shape) + out_shape[1] if bias else 0
        return 2 * (prod(x_shape) + prod(w_shape) + prod(out_shape)) * bytes_per_element + of_bias

    def _size(self, given):
        if given is not None:
            return given
        return name2bpe(self._dtype())

    def _dtype(self):
        return at(self.param_details.get("dtype_input_weight"), 0) or self.param_details.get("dtype")

    def get_compute_precision(self):
        return torch_dtype_map(self._dtype())

    def get_maf_type(self):
        return "matrix"


def conv_kind(input_shape):
    if len(input_shape) not in _KINDS:
        raise ValueError(f"Unknown convolution dimension: an input of shape {tuple(input_shape)}")
    return _KINDS[len(input_shape)]


def same_type(pair):
    if pair[0] != pair[1]:
        raise ValueError(f"input and filter of different types {pair[0]} and {pair[1]}")
    return pair


def per_dimension(text, count, default):
    """`[2, 2]`, or one number for all dimensions, or nothing."""
    values = tuple(int(piece) for piece in text[1:-1].split(",")) if text else (default,)
    return values * count if len(values) == 1 else values


def conv_params(event, x, bias):
    """The arguments of aten::convolution, which start at slot `x`."""
    shapes, texts = dims(event), concrete(event)
    input_shape = tuple(shapes[x])
    kind, count = conv_kind(input_shape), len(input_shape) - 2
    return {
        "convNd": kind,
        "input_shape": input_shape,
        "filter_shape": tuple(shapes[x + 1]),
        "dtype_input_weight": same_type(tuple(types(event)[x:x + 2])),
        "input_stride": stride_if_recorded(event, x),
        "weight_stride": stride_if_recorded(event, x + 1),
        "bias": bias,
        "stride": per_dimension(texts[x + 3], count, 1),
        "padding": per_dimension(texts[x + 4], count, 0),
        "dilation": per_dimension(texts[x + 5], count, 1),
        "transposed_conv": bool_literal(texts[x + 6]),
        "output_padding": per_dimension(texts[x + 7], count, 0),
        "groups": int(texts[x + 8]),
    }


class aten_conv(CONV):
    @staticmethod
    def get_param_details(event):
        return conv_params(event, 0, bias=len(dims(event)) == 3)


class _OwnBackward:
    """The op is the backward pass: its ordinary cost is the backward cost."""

    category = "CONV_bwd"
    bwd_category = None

    def flops(self):
        return self.flops_bwd()

    def bytes(self, bytes_per_element=None):
        return self.bytes_bwd(bytes_per_element)


class aten_conv_bwd(_OwnBackward, CONV):
    @staticmethod
    def get_param_details(event):
        sizes = at(dims(event), 3)
        bias = False if sizes is None else (True if sizes else sizes)  # an empty list stays what it is
        return conv_params(event, 1, bias)


def fused_params(event):
    """(input, filter, bias, stride, padding), the last two single numbers."""
    shapes, texts = dims(event), concrete(event)
    input_shape = tuple(shapes[0])
    kind, count = conv_kind(input_shape), len(input_shape) - 2
    return {
        "convNd": kind,
        "input_shape": input_shape,
        "filter_shape": tuple(shapes[1]),
        "dtype_input_weight": same_type(tuple(types(event)[:2])),
        "input_stride": stride_if_any(event, 0),
        "weight_stride": stride_if_any(event, 1),
        "bias": True,
        "stride": (int(at(texts, 3) or 1),) * count,
        "padding": (int(at(texts, 4) or 0),) * count,
        "dilation": (1,) * count,
        "transposed_conv": False,
        "output_padding": (0,) * count,
        "groups": 1,
    }


class _FusedForward(CONV):
    """Keeps its parameters by sequence number: the backward op recorded none of them."""

    fwd_pass_cache = {}

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        number = event["args"].get("Sequence number")
        if number is not None:
            self.fwd_pass_cache[number] = self.param_details

    @staticmethod
    def get_param_details(event):
        return fused_params(event)


class ConvBias_(_FusedForward):
    fwd_pass_cache = {}


class ConvBiasReLU_(_FusedForward):
    fwd_pass_cache = {}


class _FusedBackward(_OwnBackward, CONV):
    forward = None  # the class of the forward op

    @classmethod
    def get_param_details(cls, event):
        found = cls.forward.fwd_pass_cache.get(event["args"].get("Sequence number"))
        if found is not None:
            dtypes = found["dtype_input_weight"]
            if len(set(dtypes)) > 1:
                warnings.warn(f"input and filter of different types {dtypes}: the size of the first is taken")
            return dict(found)
        if event["args"].get("Input Dims"):
            warnings.warn(f"Forward pass not found for {cls.__name__}: its sizes are not known")
        else:
            warnings.warn(f"insufficient trace data for {cls.__name__}: its sizes are not known")
        return dict.fromkeys(("convNd", "input_shape", "filter_shape", "dtype_input_weight", "input_stride",
                              "weight_stride", "bias", "stride", "padding", "dilation", "transposed_conv",
                              "output_padding", "groups"))


class ConvBias_Backward(_FusedBackward):
    forward = ConvBias_


class ConvBiasReLU_Backward(_FusedBackward):
    forward = ConvBiasReLU_
