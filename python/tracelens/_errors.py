"""What can go wrong. The text of each is the sentence that the command prints after ``error: ``."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """The run cannot go on; the message says where, what, and what was expected."""


class ReadError(Error, ValueError):
    """An input is there, but it is no trace or table that TraceLens knows."""


class FileError(Error, OSError):
    """A file cannot be opened or written; ``errno`` and ``filename`` say which and why, if known."""

    def __str__(self) -> str:  # the sentence alone, also when there is an errno
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored_file_error, (type(self), self.args, self.errno, self.filename))


def file_error(error: OSError) -> FileError:
    """What Python says about a file, as an error of ours."""
    return _restored_file_error(
        FileError, (f"{error.filename}: {error.strerror}",), error.errno, error.filename)  # fmt: skip


def _restored_file_error(
    kind: type[FileError], args: tuple[Any, ...], number: Any, filename: Any
) -> FileError:
    error = kind(*args)
    error.errno, error.filename = number, filename
    return error


class UsageError(Error, ValueError):
    """A keyword has a value that means nothing: an unknown table, GPU, gate, column ..."""


class InternalError(Error, RuntimeError):
    """A mistake of TraceLens itself: please report it."""


class NoModel(Exception):
    """Raised by an op model that cannot say what a call costs; the text shows up as the reason."""


for _class in (Error, ReadError, FileError, UsageError, InternalError, NoModel):
    _class.__module__ = "tracelens"  # where users find them, and where pickles look for them
