"""Reading traces."""

from __future__ import annotations

import os
import sys
from typing import IO, Any, Callable, Mapping, Sequence

from tracelens import _native
from tracelens._checks import text, thread_count, whole
from tracelens._errors import ReadError, UsageError
from tracelens._trace import Origin, Trace

Progress = Callable[[float, int], object]


def read(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes] | Sequence[str | os.PathLike[str]],
    *,
    threads: int = 0,
    progress: bool | Progress = False,
    strict: bool = False,
    salvage: bool = False,
    time_limit_s: int = 0,
    kernel_rename: bool = False,
    command_lines: bool = False,
    assume_dtype: str = "",
) -> Trace:
    """Reads a trace of any format; what it is, and how it is packed, is found in its first bytes.

    source: a path, bytes, or a binary file object; or a list of paths: databases of one job as one trace.
    threads: 0 means one per core; the result never depends on it. progress: True draws a bar on stderr; a
    function is called with the share that is done and the number of events so far, at most every 50 ms. What
    it raises ends the reading, and so does Ctrl-C. strict: ReadError when part of the trace cannot be read,
    which is else told in ``warnings``.

    Of databases (rocpd, rpd, Nsight Systems). salvage: read on behind damaged pages, and what is left of a
    file that was cut. time_limit_s: ReadError when it takes longer; 0: no limit. kernel_rename: rocpd's
    kernels are called as the marker around their launch. command_lines: keep how the processes were started.
    assume_dtype: what tensors whose type the ranges of emit_nvtx do not tell are taken for ("bf16").

    >>> import tracelens as tl
    >>> tl.read(tl.demo().source.path, threads=2)
    Trace('demo.json.gz', 23,215 events, PyTorch, NVIDIA H200, 0.112 s)
    """
    threads = thread_count(threads)
    options = {
        "salvage": bool(salvage),
        "time_limit_s": whole("time_limit_s", time_limit_s, "seconds, 0: no limit", most=2**31 - 1),
        "rename_kernels": bool(kernel_rename),
        "command_lines": bool(command_lines),
        "assume_dtype": text("assume_dtype", assume_dtype, "a type of tensors, as bf16"),
    }
    told = _told(progress)
    try:
        trace = _read(source, threads, told, options)
    finally:
        if isinstance(told, _Bar):
            told.clear()
    if strict and trace._native.is_incomplete:
        what = "; ".join(each for each, _, _ in trace._native.warnings) or "the file was cut short"
        raise ReadError(f"{trace.source.path}: part of the trace could not be read: {what}")
    return trace


def _read(source: Any, threads: int, told: Progress | None, options: Mapping[str, Any]) -> Trace:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _of_bytes(bytes(source), "bytes", threads, told, options)
    if hasattr(source, "read"):
        name = getattr(source, "name", "file object")
        name = name if isinstance(name, str) else "file object"
        return _of_bytes(source.read(), name, threads, told, options)
    if isinstance(source, (list, tuple)):
        paths = [os.fsdecode(os.fspath(path)) for path in source]
        if not paths:
            raise UsageError("source: expected the files of a job, got none")
        if len(paths) > 1:
            native = _native.read_job(paths, threads=threads, progress=told, options=options)
            return Trace(native, Origin())
        source = paths[0]
    path = os.fsdecode(os.fspath(source))
    native = _native.read(path, threads=threads, progress=told, options=options)
    return Trace(native, Origin.of_file(path, options) if os.path.isfile(path) else Origin())


def _of_bytes(
    content: bytes, name: str, threads: int, told: Progress | None, options: Mapping[str, Any]
) -> Trace:
    if not isinstance(content, bytes):
        raise TypeError("expected a file object opened for reading bytes: open(path, 'rb')")
    native = _native.read_bytes(content, name=name, threads=threads, progress=told, options=options)
    return Trace(native, Origin(content=content, name=name, options=options))


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
