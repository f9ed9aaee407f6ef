"""Reading traces."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Any, Callable, Mapping, NamedTuple
from weakref import WeakValueDictionary

from tracelens import _native
from tracelens._checks import text, thread_count, whole
from tracelens._errors import FileError, UsageError
from tracelens._table import Column, Table, table_of_rows

if TYPE_CHECKING:
    from tracelens._answers import Diagnosis
    from tracelens._columns import Columns
    from tracelens._edit import Edit
    from tracelens._report import Report
    from tracelens._tree import Tree

Progress = Callable[[float, int], object]


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
            known = self._trees.setdefault(options, Tree(self, self._view.tree(*options)))
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
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    raise UsageError(f"timeout_s: expected seconds, 0 or more, got {value!r}")


class Origin:
    """How to get a trace again: from its file if that is still the same, or from its bytes.

    Events and nodes keep it. Where one of them is unpickled while the trace is still in memory, it is of that
    very trace.
    """

    __slots__ = ("path", "size", "changed_ns", "content", "name", "token", "native", "__weakref__")

    def __init__(
        self,
        path: str | None = None,
        *,
        size: int = 0,
        changed_ns: int = 0,
        content: bytes | None = None,
        name: str = "",
    ) -> None:
        self.path = path
        self.size = size
        self.changed_ns = changed_ns
        self.content = content
        self.name = name
        self.token = os.urandom(16).hex()
        self.native: _native.Trace | None = None

    @classmethod
    def of_file(cls, path: str) -> Origin:
        about = os.stat(path)
        return cls(os.path.abspath(path), size=about.st_size, changed_ns=about.st_mtime_ns)

    def with_bytes(self) -> Origin:
        if self.content is not None or self.path is None:
            return self
        self._check()
        with open(self.path, "rb") as file:
            return Origin(content=file.read(), name=self.path)

    def read(self) -> Trace:
        alive = _ALIVE.get(self.token)
        if alive is not None and alive.native is not None:
            if self.content is None:
                self._check()
            return Trace(alive.native, alive)
        if self.content is not None:
            return Trace(_native.read_bytes(self.content, name=self.name), self)
        if self.path is None:
            raise UsageError("this trace was not read from a file: it cannot be pickled")
        self._check()
        return Trace(_native.read(self.path), self)

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
        return (self.path, self.size, self.changed_ns, self.content, self.name, self.token)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.path, self.size, self.changed_ns, self.content, self.name, self.token = state
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


def read(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes],
    *,
    threads: int = 0,
    progress: bool | Progress = False,
) -> Trace:
    """Reads a trace of any format; what it is, and how it is packed, is found in its first bytes.

    source: a path, bytes, or a binary file object. threads: 0 means one per core; the result never
    depends on it. progress: True draws a bar on stderr; a function is called with the share that is
    done and the number of events so far, at most every 50 ms. What it raises ends the reading, and so
    does Ctrl-C.

    >>> import tracelens as tl
    >>> tl.read(tl.demo().source.path, threads=2)
    Trace('demo.json.gz', 23,215 events, PyTorch, NVIDIA H200, 0.112 s)
    """
    threads = thread_count(threads)
    told = _told(progress)
    try:
        if isinstance(source, (bytes, bytearray, memoryview)):
            content = bytes(source)
            return _of_bytes(content, "bytes", threads, told)
        if hasattr(source, "read"):
            name = getattr(source, "name", "file object")
            return _of_bytes(source.read(), name if isinstance(name, str) else "file object",
                             threads, told)
        path = os.fsdecode(os.fspath(source))
        native = _native.read(path, threads=threads, progress=told)
        return Trace(native, Origin.of_file(path) if os.path.isfile(path) else Origin())
    finally:
        if isinstance(told, _Bar):
            told.clear()


def _of_bytes(content: bytes, name: str, threads: int, told: Progress | None) -> Trace:
    if not isinstance(content, bytes):
        raise TypeError("expected a file object opened for reading bytes: open(path, 'rb')")
    native = _native.read_bytes(content, name=name, threads=threads, progress=told)
    return Trace(native, Origin(content=content, name=name))


def _told(progress: bool | Progress) -> Progress | None:
    if callable(progress):
        return progress
    return _Bar() if progress else None


class _Bar:
    """A bar on stderr."""

    WIDTH = 30

    def __init__(self) -> None:
        self.drawn = 0

    def __call__(self, fraction: float, events: int) -> None:
        done = round(min(max(fraction, 0.0), 1.0) * self.WIDTH)
        line = f"[{'#' * done}{'.' * (self.WIDTH - done)}] {events:,} events"
        sys.stderr.write("\r" + line.ljust(self.drawn))
        sys.stderr.flush()
        self.drawn = len(line)

    def clear(self) -> None:
        if self.drawn:
            sys.stderr.write("\r" + " " * self.drawn + "\r")
            sys.stderr.flush()


def opened(trace: Trace | str | os.PathLike[str]) -> Trace:
    """A trace, read first if it is a path."""
    return trace if isinstance(trace, Trace) else read(trace)


def path_of(trace: Trace | str | os.PathLike[str]) -> str:
    """The file of a trace, for what reads traces itself."""
    if not isinstance(trace, Trace):
        return os.fsdecode(os.fspath(trace))
    if trace._origin.path is None:
        raise UsageError("this trace was not read from a file: give the path of one")
    return trace._origin.path


def demo() -> Trace:
    """The demo trace: three training steps of a small language model on an H200.

    >>> demo().gpu
    'NVIDIA H200'
    """
    from tracelens._places import demo_file

    return read(demo_file())
