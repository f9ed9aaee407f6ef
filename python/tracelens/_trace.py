"""A trace, and how it is found again."""

from __future__ import annotations

import numbers
import os
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple
from weakref import WeakValueDictionary

from tracelens import _native
from tracelens._checks import text, whole
from tracelens._errors import FileError, UsageError
from tracelens._table import Column, Table, table_of_rows

if TYPE_CHECKING:
    from tracelens._answers import Diagnosis
    from tracelens._columns import Columns
    from tracelens._edit import Edit
    from tracelens._report import Report
    from tracelens._tree import Tree


class Source(NamedTuple):
    """How the bytes of a trace arrived."""

    path: str
    format: str  #: "kineto", ...
    recorder: str  #: "PyTorch", "JAX", "rocprof", "Perfetto"; empty: not known
    packing: str  #: "", "gzip", "zip", "zstd", ...
    text_bytes: int  #: unpacked
    packed_bytes: int  #: as stored
    cut_short: bool  #: the file ends before the list of events is closed


class Trace:
    """All that was recorded. Never changes, and may be used from many threads.

    >>> import tracelens as tl
    >>> t = tl.demo()
    >>> t.source.recorder, t.gpu, len(t) > 1000
    ('PyTorch', 'NVIDIA H200', True)
    """

    def __init__(self, native: _native.Trace, origin: Origin) -> None:
        self._native = native
        self._origin = origin
        self._view = _native.TraceView(native, origin)
        self._trees: WeakValueDictionary[tuple[bool, bool], Tree] = WeakValueDictionary()
        self._session: _native.QuerySession | None = None
        origin.native = native
        _ALIVE[origin.token] = origin

    @property
    def events(self) -> Columns:
        """The events as columns, in the order of the file."""
        from tracelens._columns import Columns

        return Columns(self._native, self._view)

    @property
    def tree(self) -> Tree:
        """Who called whom; built when it is first asked for."""
        return self.build_tree()

    def build_tree(
        self, *, python_frames: bool = False, link_by_correlation: bool = False
    ) -> Tree:
        """The tree with other options; each is built once.

        python_frames: Python functions take part. link_by_correlation: GPU events also belong to calls
        that only share their correlation id.
        """
        from tracelens._tree import Tree

        options = (bool(python_frames), bool(link_by_correlation))
        known = self._trees.get(options)
        if known is None:  # another thread may be as far: one tree wins
            known = self._trees.setdefault(options, Tree(self, self._view.tree(*options), options[1]))
        return known

    @property
    def source(self) -> Source:
        """Path, format and sizes of the file."""
        return Source(**self._native.source)

    @property
    def metadata(self) -> dict[str, Any]:
        """The members of the file beside its events."""
        return self._native.metadata

    @property
    def gpu(self) -> str:
        """The name of the first GPU the trace lists; empty when it does not say."""
        return self._native.gpu

    @property
    def warnings(self) -> Table:
        """What was wrong with the file: how often, and the byte where it was seen first."""
        columns = [
            Column("what", "text", "text", "what was found"),
            Column("count", "integer", "", "how often"),
            Column("first_byte", "integer", "id", "where first, in the unpacked text"),
        ]
        return table_of_rows("warnings", columns, self._native.warnings, "Damage in the file")

    @property
    def nbytes(self) -> int:
        """The memory that columns and texts take."""
        return self._native.nbytes

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        source = self.source
        parts = [repr(os.path.basename(source.path) or source.path), f"{len(self):,} events"]
        if source.recorder:
            parts.append(source.recorder)
        if self.gpu:
            count = self._native.gpu_count
            parts.append(f"{count} × {self.gpu}" if count > 1 else self.gpu)
        parts.append(f"{self._native.span_ns / 1e9:.3g} s")
        return f"Trace({', '.join(parts)})"

    def report(self, **options: Any) -> Report:
        """The same as ``tl.report(trace, ...)``."""
        from tracelens._report import report

        return report(self, **options)

    def diagnose(self, **options: Any) -> Diagnosis:
        """The same as ``tl.diagnose(trace, ...)``."""
        from tracelens._answers import diagnose

        return diagnose(self, **options)

    def query(
        self,
        sql: str,
        *,
        params: Mapping[str, int | float | str] | None = None,
        timeout_s: float = 60,
        memory_mb: int = 1024,
    ) -> Table:
        """Asks in SQL; the rows of the last statement that gives any, as a table.

        Tables and functions are those of ``tracelens query``: events (``slice``, ``kernel``, ``launch``,
        ...) and every table of the report, which is made when a statement first names it. Times are in
        nanoseconds. params: values for ``:name``. A statement ends after ``timeout_s`` seconds (0:
        never), or when it needs more than ``memory_mb`` for sorting and temporary tables; these stay
        for later queries of the same trace. A wrong one raises UsageError, with the place.

        >>> import tracelens as tl
        >>> t = tl.demo()
        >>> t.query("SELECT count(*) AS n FROM kernel WHERE dur >= :ns", params={"ns": 10_000}).cells("n")
        [506]
        """
        values = [(str(name), _sql_value(name, value)) for name, value in (params or {}).items()]
        if self._session is None:
            self._session = _native.QuerySession(self._native)
        memory = whole("memory_mb", memory_mb, "megabytes, 1 or more", least=1, most=2**40)
        return Table(self._session.run(
            text("sql", sql, "SQL as a text"), values,
            seconds=_seconds(timeout_s), memory_bytes=memory << 20))  # fmt: skip

    def edit(self) -> Edit:
        """Changes to this trace, see `Edit`; `edit().trace()` is another trace."""
        from tracelens._edit import Edit

        return Edit(self)

    # --- pickles: where it came from, or by value ---
    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self._origin,))

    def pickle_by_value(self) -> Trace:
        """The same trace, whose pickles hold the whole file: for machines that do not share it."""
        return Trace(self._native, self._origin.with_bytes())


def _sql_value(name: str, value: Any) -> int | float | str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) or (hasattr(value, "dtype") and value.dtype.kind == "f"):
        return float(value)
    return whole(f"params: {name}", value, "a whole number of 64 bits, a float or a text", least=-(2**63))


def _seconds(value: Any) -> float:
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 <= float(value) < float("inf"):
        return float(value)
    raise UsageError(f"timeout_s: expected seconds, 0 or more, got {value!r}")


class Origin:
    """How to get a trace again: from its file if that is still the same, or from its bytes.

    Events and nodes keep it. Where one of them is unpickled while the trace is still in memory, it is of that
    very trace.
    """

    __slots__ = (
        "path", "size", "changed_ns", "content", "name", "options", "token", "native", "__weakref__")  # fmt: skip

    def __init__(
        self,
        path: str | None = None,
        *,
        size: int = 0,
        changed_ns: int = 0,
        content: bytes | None = None,
        name: str = "",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = path
        self.size = size
        self.changed_ns = changed_ns
        self.content = content
        self.name = name
        self.options = dict(options or {})  #: with which it was read
        self.token = os.urandom(16).hex()
        self.native: _native.Trace | None = None

    @classmethod
    def of_file(cls, path: str, options: Mapping[str, Any]) -> Origin:
        about = os.stat(path)
        return cls(os.path.abspath(path), size=about.st_size, changed_ns=about.st_mtime_ns,
                   options=options)  # fmt: skip

    def with_bytes(self) -> Origin:
        if self.content is not None or self.path is None:
            return self
        self._check()
        with open(self.path, "rb") as file:
            return Origin(content=file.read(), name=self.path, options=self.options)

    def read(self) -> Trace:
        alive = _ALIVE.get(self.token)
        if alive is not None and alive.native is not None:
            if self.content is None:
                self._check()
            return Trace(alive.native, alive)
        if self.content is not None:
            return Trace(
                _native.read_bytes(self.content, name=self.name, options=self.options), self)  # fmt: skip
        if self.path is None:
            raise UsageError("this trace was not read from a file: it cannot be pickled")
        self._check()
        return Trace(_native.read(self.path, options=self.options), self)

    def _check(self) -> None:
        assert self.path is not None
        try:
            about = os.stat(self.path)
        except OSError as error:
            raise FileError(f"{self.path}: the pickled trace is not there: {error.strerror}")
        if (about.st_size, about.st_mtime_ns) != (self.size, self.changed_ns):
            raise FileError(f"{self.path}: the file has changed since the trace was pickled")

    def __getstate__(self) -> tuple[Any, ...]:
        if self.path is None and self.content is None:
            raise UsageError("this trace was not read from a file: it cannot be pickled")
        return (self.path, self.size, self.changed_ns, self.content, self.name, self.options, self.token)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        (self.path, self.size, self.changed_ns, self.content, self.name, self.options,
         self.token) = state  # fmt: skip
        self.native = None


_ALIVE: WeakValueDictionary[str, Origin] = WeakValueDictionary()


def _restored(origin: Origin) -> Trace:
    return origin.read()


def _restored_event(origin: Origin, row: int) -> _native.TraceEvent:
    return origin.read()._view.event(row)


def _restored_node(
    origin: Origin, python_frames: bool, link_by_correlation: bool, row: int
) -> _native.Node | None:
    return origin.read()._view.tree(python_frames, link_by_correlation).node(row)
