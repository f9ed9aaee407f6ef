"""The choice of attention's back-end, noted in `calls`."""

import contextlib

import torch


class SDPBackend:
    FLASH_ATTENTION, MATH = "flash", "math"


@contextlib.contextmanager
def sdpa_kernel(backend):
    torch.calls.append(("sdpa_kernel", [backend], {}))
    yield
    if backend == "flash" and torch.calls[-1][1][0].shape[-1] > 256:
        raise RuntimeError("No available kernel. Aborting execution.")
