"""Which names there are, and by which routes they are imported."""

import subprocess
import sys

import pytest

import TraceLens

NAMES = ["TreePerfAnalyzer", "JaxTreePerfAnalyzer", "GPUEventAnalyser", "PytorchGPUEventAnalyser", "JaxGPUEventAnalyser",
         "JaxAnalyses", "TraceFuse", "TraceToTree", "JaxTraceToTree", "NcclAnalyser", "JaxNcclAnalyser", "PerfModel",
         "EventReplay", "EventReplayer", "DataLoader", "TraceEventUtils", "JaxProfileProcessor", "TraceDiff", "Reporting"]


def test_all_has_the_19_names_and_each_can_be_had():
    assert sorted(TraceLens.__all__) == sorted(NAMES)
    for name in NAMES:
        assert getattr(TraceLens, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        TraceLens.nothing


@pytest.mark.parametrize("lines", [
    "from TraceLens.NcclAnalyser.nccl_analyser import NcclAnalyser as a\nfrom TraceLens import NcclAnalyser as b\nassert a is b",
    "from TraceLens import NcclAnalyser as b\nfrom TraceLens.NcclAnalyser.nccl_analyser import NcclAnalyser as a\nassert a is b",
    "import TraceLens.TraceDiff\nassert isinstance(TraceLens.TraceDiff, type)",
    "from TraceLens.TraceDiff.trace_diff import TraceDiff as a\nimport TraceLens\nassert TraceLens.TraceDiff is a",
    "from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch as a\n"
    "from TraceLens.Reporting import generate_perf_report_pytorch as b\nassert a is b and callable(a)",
    "import TraceLens.Reporting.generate_perf_report_pytorch\nfrom TraceLens.Reporting import generate_perf_report_pytorch as b\n"
    "assert callable(b)",
    "from TraceLens import *\nassert TreePerfAnalyzer and EventReplay.__file__",
    "from TraceLens import GEMM, generate_perf_report_pytorch\nassert GEMM.flops_func(1, 2, 3, False) == 12",
])
def test_a_name_is_the_same_by_every_route(lines):
    subprocess.run([sys.executable, "-c", lines], check=True)


def test_importing_the_package_alone_is_cheap():
    code = "import sys, TraceLens; assert 'pandas' not in sys.modules and 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_commands_answer_to_help():
    for module in ("generate_perf_report_pytorch", "generate_perf_report_pytorch_inference", "generate_perf_report_jax",
                   "generate_multi_rank_collective_report_pytorch", "compare_perf_reports_pytorch",
                   "generate_perf_report_rocprof", "generate_perf_report_genesis", "generate_perf_report_pftrace_hip_api",
                   "generate_perf_report_pftrace_hip_activity", "generate_perf_report_pftrace_memory_copy"):
        done = subprocess.run([sys.executable, "-m", f"TraceLens.Reporting.{module}", "--help"], capture_output=True)
        assert done.returncode == 0 and b"TraceLens" in done.stdout, module
