"""TraceLens: where the time of a training or serving job went, from its profiler trace.

>>> import tracelens as tl
>>> t = tl.demo()                                   # or tl.read("trace.json.gz")
>>> r = tl.report(t)
>>> r["gpu_timeline"].columns[0].name
'type'
"""

from tracelens._answers import Diagnosis, Finding, Roofline, diagnose, replay, roofline
from tracelens._columns import Codes, Columns, Sparse
from tracelens._command import main
from tracelens._compare import Comparison, Diff, Gate, compare, diff
from tracelens._edit import Edit, from_events
from tracelens._errors import Error, FileError, InternalError, NoModel, ReadError, UsageError
from tracelens._models import Call, OpModel, Work, kernel_rule, known_models, model, op_model, table
from tracelens._native import Node, __version__
from tracelens._native import TraceEvent as Event
from tracelens._ranks import Fused, collectives, fuse, rank_files, ranks
from tracelens._reading import demo, read
from tracelens._report import (
    Report,
    kernels,
    launchers,
    one_table,
    ops,
    report,
    table_list,
    timeline,
    unified,
    unique_ops,
)
from tracelens._table import Column, Table, table_of_rows
from tracelens._trace import Source, Trace
from tracelens._tree import Tree

__all__ = [
    "Call",
    "Codes",
    "Column",
    "Columns",
    "Comparison",
    "Diagnosis",
    "Diff",
    "Edit",
    "Error",
    "Event",
    "FileError",
    "Finding",
    "Fused",
    "Gate",
    "InternalError",
    "NoModel",
    "Node",
    "OpModel",
    "ReadError",
    "Report",
    "Roofline",
    "Source",
    "Sparse",
    "Table",
    "Trace",
    "Tree",
    "UsageError",
    "Work",
    "__version__",
    "collectives",
    "compare",
    "demo",
    "diagnose",
    "diff",
    "fuse",
    "kernel_rule",
    "kernels",
    "known_models",
    "launchers",
    "main",
    "model",
    "one_table",
    "op_model",
    "ops",
    "rank_files",
    "ranks",
    "from_events",
    "read",
    "replay",
    "report",
    "roofline",
    "table",
    "table_list",
    "table_of_rows",
    "timeline",
    "unified",
    "unique_ops",
]
