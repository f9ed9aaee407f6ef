"""Normalisations. E = elements, C = channels (for layer and RMS norm: the size that is normalised)."""

from math import prod

from ..utils import name2bpe, torch_dtype_map
from .base import Model, concrete, dims, parse_list, stride, stride_if_any, types


class Normalization(Model):
    category = "NORM_fwd"
    bwd_category = "NORM_bwd"
    sheet_category = "Normalization"

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        details = self.param_details
        self.op_shape = details["op_shape"]
        self.num_elems = prod(self.op_shape)
        self.num_channels = details["num_channels"]
        self.has_bias, self.is_affine = details["has_bias"], details["is_affine"]
        self.is_training = details["is_training"]
        self.output_mask = details.get("output_mask")
        self.dtype_in, self.dtype_out = details["dtype_in_out"]
        self.bpe_in = name2bpe(self.dtype_in)
        self.bpe_out = self.bpe_in if self.dtype_out is None else name2bpe(self.dtype_out)

    def flops(self):
        return self.flops_func(self.has_bias, self.is_affine, self.is_training, self.num_elems, self.num_channels)

    @staticmethod
    def flops_func(has_bias, is_affine, is_training, num_elems, num_channels):
        return 6 * num_channels + (3 * num_elems if is_training else 0) + 2 * num_elems

    def bytes(self):
        return self.bytes_func(self.has_bias, self.is_affine, self.is_training, self.num_elems, self.num_channels,
                               self.bpe_in, self.bpe_out)

    @staticmethod
    def bytes_func(has_bias, is_affine, is_training, num_elems, num_channels, bpe_in, bpe_out):
        per_channel = 2 + (1 + bool(has_bias) if is_affine else 0) + (2 if is_training else 0)
        return num_elems * bpe_in + num_elems * bpe_out + per_channel * num_channels * bpe_in

    @staticmethod
    def flops_func_bwd(has_bias, is_affine, is_training, num_elems, num_channels, output_mask):
        """Of the backward pass; `output_mask[0]`: whether the gradient of the input is asked for."""
        per_channel = num_elems / num_channels
        if output_mask[0]:
            for_input = 5 * per_channel if is_training else 0
        else:
            for_input = 2 * per_channel
        return num_channels * ((0 if is_training else 3) + 4 * per_channel + for_input)

    @staticmethod
    def bytes_func_bwd(has_bias, is_affine, is_training, num_elems, num_channels, output_mask, bpe_in, bpe_out):
        channels = num_channels * bpe_in
        reads = 2 if output_mask[0] and is_training else 1
        total = num_elems * bpe_out + num_elems * bpe_in * reads
        if is_training:
            total += channels
        if is_affine:
            total += channels + (channels * (2 if has_bias else 1) if is_training else 0)
        return total

    def flops_bwd(self):
        raise NotImplementedError("the backward pass is an op of its own")

    def bytes_bwd(self):
        raise NotImplementedError("the backward pass is an op of its own")

    def get_compute_precision(self):
        return torch_dtype_map(self.dtype_in)

    def get_maf_type(self):
        return "vector"


class _Backward(Normalization):
    """The op is the backward pass: its ordinary cost is the backward cost."""

    category = "NORM_bwd"
    bwd_category = None

    def flops(self):
        return self.flops_bwd()

    def bytes(self):
        return self.bytes_bwd()

    def flops_bwd(self):
        return self.flops_func_bwd(self.has_bias, self.is_affine, self.is_training, self.num_elems, self.num_channels,
                                   self.output_mask)

    def bytes_bwd(self):
        return self.bytes_func_bwd(self.has_bias, self.is_affine, self.is_training, self.num_elems, self.num_channels,
                                   self.output_mask, self.bpe_in, self.bpe_out)


def norm_params(event, slot, num_channels, has_bias, is_affine, is_training, **more):
    return {
        "op_shape": tuple(dims(event)[slot]),
        "dtype_in_out": (types(event)[slot], None),
        "stride_input": stride(event, slot),
        "stride_output": None,
        "num_channels": num_channels,
        "has_bias": has_bias,
        "is_affine": is_affine,
        "is_training": is_training,
        **more,
    }


def recorded(event, slot):
    """Whether an argument was recorded at all; an argument without a tensor is recorded as []."""
    return dims(event)[slot] is not None


class BatchNorm(Normalization):
    @staticmethod
    def get_param_details(event):
        return norm_params(event, 0, dims(event)[0][1], True, recorded(event, 2), bool(concrete(event)[5]))


class LayerNorm(Normalization):
    @staticmethod
    def get_param_details(event):
        size = prod(parse_list(concrete(event)[1], int))
        return norm_params(event, 0, size, recorded(event, 3), recorded(event, 2), True)


class GroupNorm(Normalization):
    @staticmethod
    def get_param_details(event):
        return norm_params(event, 0, dims(event)[0][1], True, recorded(event, 2), True)


class InstanceNorm(Normalization):
    @staticmethod
    def get_param_details(event):
        return norm_params(event, 0, dims(event)[0][1], True, recorded(event, 2), bool(concrete(event)[5]))


def rms_flops(num_elems, num_channels, is_affine):
    """A mean of squares and a root per row, then one or two products per element."""
    return num_elems / num_channels * (2 * num_channels + 2) + num_elems * (2 if is_affine else 1)


class RMSNorm(Normalization):
    @staticmethod
    def get_param_details(event):
        size = prod(parse_list(concrete(event)[1], int))
        return norm_params(event, 0, size, False, recorded(event, 2), False)

    def flops(self):
        return rms_flops(self.num_elems, self.num_channels, self.is_affine)

    def bytes(self):
        weights = self.num_channels * self.bpe_in if self.is_affine else 0
        return self.num_elems * self.bpe_in + self.num_elems * self.bpe_out + weights


class BatchNormBwd(_Backward):
    @staticmethod
    def get_param_details(event):
        vendor = any(word in event["name"] for word in ("cudnn_", "miopen_"))
        slot = 0 if vendor else 1
        return norm_params(event, slot, dims(event)[slot][1], True, recorded(event, 2),
                           False if vendor else bool(concrete(event)[7]),
                           output_mask=[True if vendor else recorded(event, 0)])


class LayerNormBwd(_Backward):
    @staticmethod
    def get_param_details(event):
        mask = parse_list(concrete(event)[7], bool)
        size = prod(parse_list(concrete(event)[2], int))
        return norm_params(event, 1, size, mask[2], mask[1], True, output_mask=mask)


class GroupNormBwd(_Backward):
    @staticmethod
    def get_param_details(event):
        return norm_params(event, 1, dims(event)[1][1] / int(concrete(event)[8]), True, recorded(event, 5), True,
                           output_mask=parse_list(concrete(event)[9], bool))


class InstanceNormBwd(_Backward):
    @staticmethod
    def get_param_details(event):
        raise NotImplementedError("no trace shows how this op records its arguments")


class RMSNormBwd(_Backward):
    @staticmethod
    def get_param_details(event):
        return norm_params(event, 1, prod(parse_list(concrete(event)[2], int)), False, recorded(event, 4), False,
                           output_mask=parse_list(concrete(event)[5], bool))

    def flops_bwd(self):
        elements = self.num_elems
        total = elements + (elements if self.is_affine else 0)
        if self.output_mask[0]:
            total += 6 * elements
        if self.output_mask[1] and self.is_affine:
            rows = elements / self.num_channels
            total += elements + (elements if rows > 1 else 0)
        return total

    def bytes_bwd(self):
        weights = 2 * self.num_channels * self.bpe_in if self.is_affine else 0
        return self.num_elems * self.bpe_out + 2 * self.num_elems * self.bpe_in + weights


def modulated_params(event, **more):
    shape = tuple(dims(event)[0])
    return {"op_shape": shape, "dtype_in_out": (types(event)[0], None), "stride_input": stride_if_any(event, 0),
            "stride_output": None, "num_channels": shape[2], "has_bias": True, "is_affine": True, "is_training": True,
            **more}


def modulated_bytes(op_shape, size, tensors):
    """`tensors` of x[T, B, H], as many of the modulation [B, H], mean and deviation in 32 bits."""
    tokens, batch, hidden = op_shape
    return tensors * (prod(op_shape) + batch * hidden) * size + 8 * tokens * batch


class FusedLnModulate(Normalization):
    """Layer norm, then scale and shift per sample."""

    @staticmethod
    def get_param_details(event):
        return modulated_params(event)

    def flops(self):
        return 12 * self.num_elems

    def bytes(self):
        return modulated_bytes(self.op_shape, self.bpe_in, 2)


class FusedLnModulateBackward(Normalization):
    category = "NORM_bwd"
    bwd_category = None

    @staticmethod
    def get_param_details(event):
        return modulated_params(event, output_mask=[True, True, True])

    def flops(self):
        return 15 * self.num_elems

    def bytes(self):
        return modulated_bytes(self.op_shape, self.bpe_in, 3)
