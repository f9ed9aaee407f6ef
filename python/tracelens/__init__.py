"""TraceLens: where the time of a training or serving job went, from its profiler trace.

>>> import tracelens as tl
>>> t = tl.demo()                                   # or tl.read("trace.json.gz")
>>> r = tl.report(t)
>>> r["gpu_timeline"].columns[0].name
'type'
"""

from tracelens._columns import Codes, Columns, Sparse
from tracelens._errors import Error, FileError, InternalError, NoModel, ReadError, UsageError
from tracelens._native import Node, __version__
from tracelens._native import TraceEvent as Event
from tracelens._report import Report, report, table_list
from tracelens._table import Column, Table, table_of_rows
from tracelens._trace import Source, Trace, demo, read
from tracelens._tree import Tree

__all__ = [
    "Codes",
    "Column",
    "Columns",
    "Error",
    "Event",
    "FileError",
    "InternalError",
    "NoModel",
    "Node",
    "ReadError",
    "Report",
    "Source",
    "Sparse",
    "Table",
    "Trace",
    "Tree",
    "UsageError",
    "__version__",
    "demo",
    "read",
    "report",
    "table_list",
    "table_of_rows",
]
