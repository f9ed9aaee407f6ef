"""Small families: exchange of tokens between experts, state space layers, rotary embedding, cross entropy."""

from math import prod

from ..utils import name2bpe, torch_dtype_map
from .base import Model, at, dims, is_tensor, text_at


def first_type(event):
    return at(event["args"].get("Input type"), 0)


class _ByFirstType(Model):
    """The precision is that of the first argument, its size (2 if unknown) that of every element."""

    maf_type = "vector"

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        self.bpe = name2bpe(first_type(event)) or 2

    def get_compute_precision(self):
        return torch_dtype_map(first_type(self.event))

    def get_maf_type(self):
        return self.maf_type


class MoEComm(Model):
    """Tokens sent to their experts, or back: bytes only."""

    category = "MoE_comm_fwd"
    bwd_category = "MoE_comm_bwd"

    def flops(self):
        return 0

    def bytes(self):
        sizes = [self.param_details[name] for name in ("num_tokens", "hidden_dim", "bpe")]
        return None if None in sizes else prod(sizes)

    def flops_bwd(self):
        return 0

    def bytes_bwd(self):
        return self.bytes()

    def get_compute_precision(self):
        return None

    def get_maf_type(self):
        return None


class _TokensFirst(MoEComm):
    @staticmethod
    def get_param_details(event):
        shape = at(event["args"].get("Input Dims"), 0)
        return {"num_tokens": at(shape, 0), "hidden_dim": at(shape, 1), "bpe": name2bpe(first_type(event))}


class moe_dispatch(_TokensFirst):
    pass


class moe_combine(_TokensFirst):
    pass


class CausalConv1d(_ByFirstType):
    category = "SSM_fwd"
    maf_type = "matrix"

    def flops(self):
        p = self.param_details
        return 2 * p["batch"] * p["channels"] * p["seq_len"] * p["kernel_size"]

    def bytes(self):
        if self.bpe is None:
            return None
        p = self.param_details
        in_and_out = 2 * p["batch"] * p["channels"] * p["seq_len"]
        weights = p["channels"] * (p["kernel_size"] + (1 if p["has_bias"] else 0))
        return (in_and_out + weights) * self.bpe


class causal_conv1d_fwd(CausalConv1d):
    @staticmethod
    def get_param_details(event):
        batch, channels, length = dims(event)[0]
        return {"batch": batch, "channels": channels, "seq_len": length, "kernel_size": dims(event)[1][1],
                "has_bias": is_tensor(event, 2)}


class MambaSSD(_ByFirstType):
    """Mamba 2's fused convolution and scan, in chunks of C tokens."""

    category = "SSM_fwd"
    bwd_category = "SSM_bwd"
    maf_type = "matrix"

    def flops(self):
        p = self.param_details
        B, T, H, P, G, N, C = (p[name] for name in "BTHPGNC")
        return 2 * B * T * (p["conv_channels"] * p["d_conv"] + G * C * N + H * C * P + 2 * H * N * P)

    def bytes(self):
        p = self.param_details
        dtypes = self.event["args"].get("Input type")
        per_head = (self._param_bpe(dtypes, 3, 4) + self._param_bpe(dtypes, 4, 4)
                    + self._param_bpe(dtypes, 5, self.bpe))
        tokens = p["B"] * p["T"]
        elements = tokens * p["combined_dim"] + p["conv_channels"] * (p["d_conv"] + 1) + tokens * p["d_inner"]
        return elements * self.bpe + p["H"] * per_head

    @staticmethod
    def _param_bpe(dtypes, slot, default):
        return name2bpe(at(dtypes, slot)) or default

    def flops_bwd(self):
        return self.flops()

    def bytes_bwd(self):
        return self.bytes()


class mamba_ssd_fwd(MambaSSD):
    @staticmethod
    def get_param_details(event):
        B, T, combined = dims(event)[0]
        channels, d_conv = dims(event)[1]
        H = dims(event)[3][0]
        C, P, G = (int(text_at(event, slot) or default) for slot, default in ((6, 128), (15, 64), (16, 1)))
        d_inner = H * P
        states = combined - 2 * d_inner - H
        if states <= 0 or states % (2 * G):
            raise ValueError(f"Cannot derive d_state: {combined} columns, {H} heads of {P}, {G} groups")
        return {"B": B, "T": T, "H": H, "P": P, "G": G, "N": states // (2 * G), "C": C, "d_inner": d_inner,
                "d_conv": d_conv, "conv_channels": channels, "combined_dim": combined}


class FusedRoPE(_ByFirstType):
    """Every element is turned: read, three operations, written."""

    category = "RoPE_fwd"

    def flops(self):
        return 3 * self.param_details["num_elements"]

    def bytes(self):
        return None if self.bpe is None else 2 * self.param_details["num_elements"] * self.bpe


class fused_rope_fwd(FusedRoPE):
    @staticmethod
    def get_param_details(event):
        length, batch, heads, size = dims(event)[0]
        return {"seq_len": length, "batch": batch, "heads": heads, "head_dim": size,
                "num_elements": length * batch * heads * size}


class CrossEntropy(_ByFirstType):
    """Softmax and loss over logits[batch, ..., vocabulary]; targets of 8 bytes, losses of 4."""

    category = "CrossEntropy_fwd"

    def flops(self):
        return 5 * self.param_details["batch"] * self.param_details["vocab_size"]

    def bytes(self):
        if self.bpe is None:
            return None
        return prod(self.param_details["logits_shape"]) * self.bpe + 12 * self.param_details["batch"]


class cross_entropy_fwd(CrossEntropy):
    @staticmethod
    def get_param_details(event):
        logits = dims(event)[0]
        return {"batch": logits[0], "vocab_size": logits[-1], "logits_shape": logits}
