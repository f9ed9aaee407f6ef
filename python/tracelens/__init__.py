"""TraceLens: where the time of a training or serving job went, from its profiler trace.

>>> import tracelens as tl
>>> t = tl.demo()                                   # or tl.read("trace.json.gz")
>>> r = tl.report(t)
>>> r["gpu_timeline"].columns[0].name
'type'
"""

from tracelens._edit import Edit, from_events
from tracelens._errors import Error, FileError, InternalError, NoModel, ReadError, UsageError
from tracelens._native import __version__
from tracelens._report import Report, report, table_list
from tracelens._table import Column, Table, table_of_rows
from tracelens._trace import Source, Trace, demo, read

__all__ = [
    "Column",
    "Edit",
    "Error",
    "FileError",
    "InternalError",
    "NoModel",
    "ReadError",
    "Report",
    "Source",
    "Table",
    "Trace",
    "UsageError",
    "__version__",
    "demo",
    "from_events",
    "read",
    "report",
    "table_list",
    "table_of_rows",
]
