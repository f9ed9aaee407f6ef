"""Which files are meant by folders and patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from typing import Union

from tracelens import FileError, UsageError, _native

Paths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]


def find_traces(paths: Paths) -> list[str]:
    """The files below these folders, of these patterns (``**``: any number of folders) and these files.

    Of a folder, those that are called as traces are; a file that is named is read whatever its name.
    Sorted within a folder or pattern; a file that is meant twice is there once. Raises ``FileError`` when
    one of ``paths`` means no file at all.

        >>> find_traces("runs/**/rank*.json.gz")    # doctest: +SKIP
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: dict[str, None] = {}
    for each in given:
        files = _files_of(os.fspath(each))
        if not files:
            raise FileError(f"{os.fspath(each)}: no traces there")
        found.update(dict.fromkeys(files))
    return list(found)


def _files_of(path: str) -> list[str]:
    if os.path.isdir(path):
        below = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        return sorted(file for file in below if is_trace_name(file))
    if glob.has_magic(path) and not os.path.exists(path):
        return sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
    return [path]  # also one that is not there: it will be among those that failed


def is_trace_name(path: str) -> bool:
    name = os.path.basename(path)
    return not name.startswith(".") and _native.format_by_name(os.fsencode(name)) != ""


def memory_to_read(path: str) -> int:
    """About how many bytes a process takes that makes the report of this trace."""
    try:
        size = os.path.getsize(path)
    except OSError:
        return 0
    packed = path.lower().endswith((".gz", ".zst", ".zip", ".xz", ".bz2"))
    return 100_000_000 + size * 5 if packed else 100_000_000 + size // 2


def bytes_of(memory: int | str | None) -> int | None:
    """``"8G"`` as a number."""
    if memory is None or isinstance(memory, int):
        return memory
    units = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
    text = memory.strip().upper().removesuffix("B")
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1)
    try:
        return int(float(number) * unit)
    except ValueError:
        raise UsageError(f"{memory!r}: expected a size such as '8G'") from None
