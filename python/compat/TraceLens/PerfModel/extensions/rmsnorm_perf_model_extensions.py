"""RMS norms of serving engines, alone or fused with an addition, a quantisation, a padding."""

from math import ceil

from .._models import norm
from .._models.base import at, concrete, dims, is_tensor, text_at
from ..utils import optional_int


class RMSNorm(norm.RMSNorm):
    """A subclass says where the tensor and where its weights are, and what else the op does."""

    category = "RMSNorm"
    bwd_category = None
    sheet_category = "RMSNorm"
    tensor_slot, weight_slot = 0, 1

    @classmethod
    def get_param_details(cls, event):
        return norm.norm_params(event, cls.tensor_slot, dims(event)[cls.weight_slot][0], False, True, False)

    @property
    def rows(self):
        return self.num_elems // self.num_channels

    def _read(self, tensors=1):
        """Bytes of so many tensors of the size of x, and of the weights."""
        return (tensors * self.num_elems + self.num_channels) * self.bpe_in

    def _quantized(self, group_size):
        """Bytes of an 8-bit result with a 32-bit scale for every group of a row."""
        return self.num_elems + 4 * self.rows * ceil(self.num_channels / group_size)


class aiter_rms_norm(RMSNorm):
    pass


class aiter_rmsnorm(RMSNorm):
    tensor_slot, weight_slot = 1, 2


class aiter_rmsnorm2d_fwd_with_add_ck(RMSNorm):
    """Adds a residual first, and writes the sum too."""

    tensor_slot, weight_slot = 1, 4

    def flops(self):
        return self.num_elems + super().flops()

    def bytes(self):
        return self._read(4)


class aiter_add_rmsnorm(aiter_rmsnorm2d_fwd_with_add_ck):
    pass


class aiter_rmsnorm2d_fwd_with_dynamicquant_ck(RMSNorm):
    tensor_slot, weight_slot = 1, 3

    def flops(self):
        return super().flops() + 2 * self.num_elems

    def bytes(self):
        return self._read() + self._quantized(self.num_channels)


class aiter_rmsnorm_quant(aiter_rmsnorm2d_fwd_with_dynamicquant_ck):
    """The size of a group is argument 5; none, or 0, is the whole row."""

    @property
    def group_size(self):
        given = optional_int(text_at(self.event, 5), 0)
        return given if given > 0 else self.num_channels

    def bytes(self):
        return self._read() + self._quantized(self.group_size)


class vllm_rocm_aiter_rmsnorm_fp8_group_quant(RMSNorm):
    group_slot = 3

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        self.group_size = int(concrete(event)[self.group_slot])

    def flops(self):
        return super().flops() + 2 * self.num_elems

    def bytes(self):
        return self._read() + self._quantized(self.group_size)


class vllm_rocm_aiter_rmsnorm_with_add_fp8_group_quant(vllm_rocm_aiter_rmsnorm_fp8_group_quant):
    weight_slot, group_slot = 2, 4

    def flops(self):
        return super().flops() + self.num_elems

    def bytes(self):
        return self._read(3) + self._quantized(self.group_size)


class vllm_rocm_aiter_triton_add_rmsnorm_pad(RMSNorm):
    """Rows of the result are padded to a multiple of argument 4."""

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        self.pad_multiple = int(concrete(event)[4])

    def flops(self):
        return self.num_elems + super().flops()

    def bytes(self):
        width, multiple = self.num_channels, self.pad_multiple
        padded = ceil(width / multiple) * multiple if multiple > 0 else width
        return self._read(2) + self.rows * (padded + width) * self.bpe_in


class fused_rms_mxfp4_quant(RMSNorm):
    """A 4-bit result; perhaps a second tensor is normalised beside, perhaps a residual is added."""

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        second, residual = at(dims(event), 3), at(dims(event), 6)
        self.has_x2 = is_tensor(event, 3) and len(second) == 2
        self.has_res1 = is_tensor(event, 6) and len(residual) == 2
        self.x2_channels = second[1] if self.has_x2 else 0

    def flops(self):
        one = super().flops()
        total = one + 2 * self.num_elems
        if self.has_res1:
            total += self.rows * self.num_channels
        if self.has_x2:
            total += one * self.rows * self.x2_channels // max(self.num_elems, 1)
        return total

    def bytes(self):
        total = self._read() + 0.5 * self.num_elems + self.num_elems // 32
        if self.has_res1:
            total += 2 * self.num_elems * self.bpe_in
        if self.has_x2:
            total += (2 * self.rows + 1) * self.x2_channels * self.bpe_in
        return total
