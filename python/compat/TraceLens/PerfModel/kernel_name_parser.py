"""What the name of a GEMM kernel says: which operands are transposed, which tile it computes.

`gemm_name_parser` asks the functions of this module by name at every call, so that a program may
replace `is_rocm_gemm` and `parse_rocm_gemm` with its own.
"""

import re

_ROCM = re.compile(r"C[a-z]{3}_A[a-z]{3}_B[a-z]{3}")
_ROCM_TILE = re.compile(r"MT(\d+)x(\d+)x(\d+)")


def is_rocm_gemm(kernel_name):
    return _ROCM.search(kernel_name) is not None


def parse_rocm_gemm(kernel_name):
    """Tensile names: `Cijk_Alik_Bljk_..._MT64x16x64_...`, indices in the order of BLAS."""
    tile = _ROCM_TILE.search(kernel_name)
    mt_m, mt_n, depth_u = map(int, tile.groups()) if tile else (None, None, None)
    transpose = (_found(kernel_name, "_Ailk_", "_Alik_"), _found(kernel_name, "_Bljk_", "_Bjlk_"))
    return {"transpose": transpose, "mt_m": mt_m, "mt_n": mt_n, "depth_u": depth_u}


def is_cuda_gemm(kernel_name):
    return kernel_name.startswith("nvjet")


def parse_cuda_gemm(kernel_name):
    """cuBLAS names: `nvjet_..._TNT`; None when the last part is too short to tell."""
    layout = kernel_name.rsplit("_", 1)[-1]
    if len(layout) < 2:
        return None
    return {"transpose": (layout[0] == "T", layout[1] == "T")}


def gemm_name_parser(kernel_name):
    """A dict with `transpose` and perhaps the tile; None for a name of no known form."""
    if is_rocm_gemm(kernel_name):
        return parse_rocm_gemm(kernel_name)
    if is_cuda_gemm(kernel_name):
        return parse_cuda_gemm(kernel_name)
    return None


def _found(name, plain, transposed):
    if plain in name:
        return False
    return True if transposed in name else None
