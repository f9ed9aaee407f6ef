"""What the kernels of a JAX profile did and how fast, from the sheets of their models."""

from ._launchers import as_tuple

NAN = float("nan")


class JaxMetrics:
    """Of the table of kernels, and the sheets `op_...`, whose rows are kernels of one name and one HLO op's shapes."""

    def __init__(self, kernels, sheets):
        self._kernels = {row["UID"]: row for row in kernels.to_dict("records")}
        self._groups = {}
        for sheet in sheets:
            for row in sheet.to_dict("records"):
                if row["UID_first"] in self._kernels:
                    self._groups[self._key(row["UID_first"])] = row

    def _key(self, uid):
        kernel = self._kernels[uid]
        return (kernel["name"], kernel["op category"], str(as_tuple(kernel["Input Dims"])),
                str(as_tuple(kernel["Input type"])), str(as_tuple(kernel["Concrete Inputs"])), self._target(uid))  # fmt: skip

    def _target(self, uid):
        details = self._kernels[uid]["kernel_details"]
        return str(details[0].get("custom_call_target") or "") if details else ""

    def model_of(self, uid):
        """The name of its model, by what its HLO op calls."""
        target, category = self._target(uid), self._kernels[uid]["op category"]
        if category == "GEMM" and ("matmul" in target or "cublas" in target):
            return "jax_gemm"
        if "te_fused_attn_forward_ffi" in target:
            return "jax_te_fused_attn"
        if "te_fused_attn_backward_ffi" in target:
            return "jax_te_fused_attn_bwd"
        if category == "Conv" and ("cudnn$convForward" in target or "cudnn$convBiasActivationForward" in target):
            return "jax_conv"
        return "jax_conv_bwd" if category == "Conv" and "cudnn$convBackward" in target else "rest"

    def of(self, uid, dur):
        """Work, time, rates and parameters of one kernel; None without a model."""
        group = self._groups.get(self._key(uid)) if uid in self._kernels else None
        if group is None:
            return None
        gflops, moved = group["GFLOPS_first"], group.get("Data Moved (MB)_first", NAN)
        seconds = dur / 1e6
        return {
            "GFLOPS": gflops,
            "Kernel Time (µs)": dur,
            "TFLOPS/s": gflops / 1e3 / seconds if dur > 0 else NAN,
            "Data Moved (MB)": moved,
            "FLOPS/Byte": group.get("FLOPS/Byte_first", NAN),
            "TB/s": moved * 2**20 / 1e12 / seconds if dur > 0 else NAN,
            **{key: value for key, value in group.items() if key.startswith("param: ")},
        }

    def more_of(self, uid, arguments, details):
        kernel = self._kernels[uid]
        wanted = (["Input Dims", "Input type"] if arguments else []) + (["kernel_details"] if details else [])
        return {key: kernel[key] for key in wanted}
