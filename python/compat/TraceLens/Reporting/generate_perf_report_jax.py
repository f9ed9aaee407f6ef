"""The performance report of a JAX profile, as one call or one command."""

import json
import os
import tempfile

from .._errors import reading_natively
from ._arguments import Arguments
from ._rocm import written
from .reporting_utils import resolve_gpu_arch


def generate_perf_report_jax(
    profile_path,
    output_xlsx_path=None,
    output_csvs_dir=None,
    kernel_metadata_keyword_filters=None,
    gpu_arch_json_path=None,
    gpu_arch_platform=None,
    gpu_arch=None,
    enable_origami=False,
):
    """A dict from sheet to DataFrame."""
    from tracelens import _native

    path = os.fspath(profile_path)
    arch = resolve_gpu_arch(gpu_arch_json_path=gpu_arch_json_path,
                            gpu_arch_platform=gpu_arch_platform, gpu_arch=gpu_arch)  # fmt: skip
    options = {"edition": "reference", "gpu_from_trace": False, "without": ["warnings"],
               "op_keywords": list(kernel_metadata_keyword_filters or ())}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        if arch is not None:
            options["gpu_file"] = os.path.join(folder, "gpu.json")
            with open(options["gpu_file"], "w", encoding="utf-8") as file:
                json.dump({"name": "GPU", **arch}, file)
        with reading_natively(path):
            report = _native.report(_native.read(path), options)
    return written(report, output_xlsx_path, output_csvs_dir, path.rpartition(".xplane.pb")[0] + "_perf_report.xlsx")


def main():
    flags = Arguments("TraceLens_generate_perf_report_jax", "The performance report of a JAX profile")
    flags.add("profile_path", required=True, help="*.xplane.pb, or its folder")
    flags.output()
    flags.add("kernel_metadata_keyword_filters", nargs="+", help="words of an HLO op's metadata")
    flags.gpu()
    flags.switch("enable-origami", "accepted; the external simulator is not supported")
    generate_perf_report_jax(**flags.parse())


if __name__ == "__main__":
    main()
