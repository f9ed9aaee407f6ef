"""Reports: dicts of sheets, written as CSV files or a workbook.

`TraceLens.Reporting.generate_perf_report_pytorch` is the function, while the module of that name is
found by `from TraceLens.Reporting.generate_perf_report_pytorch import ...`.
"""

from .._names import let_names_be_both

_HOMES = {
    "generate_perf_report_pytorch": "generate_perf_report_pytorch",
    "get_dfs_short_kernels": "generate_perf_report_pytorch",
    "apply_extension": "generate_perf_report_pytorch",
    "generate_collective_report": "generate_multi_rank_collective_report_pytorch",
    "generate_compare_perf_reports_pytorch": "compare_perf_reports_pytorch",
}
__all__ = list(_HOMES)

let_names_be_both(__name__, _HOMES)
