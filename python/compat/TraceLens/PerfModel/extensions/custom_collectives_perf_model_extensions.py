"""Collectives that engines write themselves: what the local GPU moves through its own memory."""

from math import prod

from .._models.base import Model, dims, stride, types
from ..utils import name2bpe


class CustomCollective(Model):
    category = "CustomCollective"

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        self.num_elems = prod(self.param_details["op_shape"])
        self.bpe = name2bpe(self.param_details["dtype_in"])

    def flops(self):
        return 0

    def get_compute_precision(self):
        return None

    def get_maf_type(self):
        return None


def tensor_params(event, slot, **more):
    return {"op_shape": tuple(dims(event)[slot]), **more, "dtype_in": types(event)[slot],
            "stride_input": stride(event, slot)}


class _AllReduceRmsNorm(CustomCollective):
    tensor_slot = weight_slot = None

    @classmethod
    def get_param_details(cls, event):
        return {**tensor_params(event, cls.tensor_slot), "num_channels": dims(event)[cls.weight_slot][0]}

    def flops(self):
        width = self.param_details["num_channels"]
        return self.num_elems + self.num_elems // width * (2 * width + 2) + 2 * self.num_elems

    def bytes(self):
        return (4 * self.num_elems + self.param_details["num_channels"]) * self.bpe


class aiter_fused_allreduce_rmsnorm(_AllReduceRmsNorm):
    tensor_slot, weight_slot = 2, 6


class aiter_fused_allreduce_rmsnorm_(_AllReduceRmsNorm):
    tensor_slot, weight_slot = 0, 2


class custom_ar_all_reduce(CustomCollective):
    @staticmethod
    def get_param_details(event):
        return tensor_params(event, 1)

    def bytes(self):
        return 2 * self.num_elems * self.bpe


class custom_ar_qr_all_reduce(custom_ar_all_reduce):
    pass


class sgl_kernel_all_reduce_reg(custom_ar_all_reduce):
    pass


class sgl_kernel_qr_all_reduce(custom_ar_all_reduce):
    pass


class _Resized(CustomCollective):
    """Input and output of different sizes."""

    def bytes(self):
        return (self.num_elems + prod(self.param_details["out_shape"])) * self.bpe


class aiter_reduce_scatter(_Resized):
    @staticmethod
    def get_param_details(event):
        return tensor_params(event, 1, out_shape=tuple(dims(event)[2]))


class aiter_all_gather_reg(aiter_reduce_scatter):
    pass


class sgl_kernel_reg_all_gather_into_tensor(_Resized):
    @staticmethod
    def get_param_details(event):
        return {"out_shape": tuple(dims(event)[0]), "op_shape": tuple(dims(event)[1]), "dtype_in": types(event)[0]}
