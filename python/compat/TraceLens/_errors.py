"""Errors of reading: programs may catch Python's own classes, or those of tracelens."""

import contextlib
import errno
import gzip
import json
import os

from tracelens import FileError, ReadError


class MissingFile(FileError, FileNotFoundError):
    """There is no such file."""

    def __init__(self, number, reason, path):
        super().__init__(number, reason, path)
        self.args = (f"{path}: cannot be opened: {reason}",)
        self.errno, self.strerror, self.filename = number, reason, path

    def __reduce__(self):
        return type(self), (self.errno, self.strerror, self.filename)


class NotJson(ReadError, json.JSONDecodeError):
    """The document is damaged, or none at all."""

    def __init__(self, sentence, text, position):
        json.JSONDecodeError.__init__(self, sentence, text, position)
        self.args = (sentence,)

    def __reduce__(self):
        return type(self), (self.msg, self.doc, self.pos)


class NoEvents(ReadError, KeyError):
    """The document has no list of events."""

    __str__ = Exception.__str__  # the sentence, not its repr


@contextlib.contextmanager
def reading(path, sentence=None):
    """Turns Python's errors about a file into ours, which are theirs too; with the core's sentence if it has one."""
    try:
        yield
    except FileNotFoundError as error:
        if isinstance(error, FileError):
            raise
        raise MissingFile(error.errno, error.strerror, path) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        said = sentence or f"{path}: no JSON document: {error.msg} at {place}"
        raise NotJson(said, error.doc, error.pos) from None


def events_of(document, path, sentence=None):
    """The list of events of a trace's document."""
    if not isinstance(document, dict) or "traceEvents" not in document:
        raise NoEvents(sentence or f'{path}: this JSON is not a trace: it has no "traceEvents" list')
    return document["traceEvents"]


@contextlib.contextmanager
def reading_natively(*paths):
    """Turns the core's errors about these files into those that are Python's, too."""
    try:
        yield
    except FileError as error:
        if error.errno != errno.ENOENT or isinstance(error, FileNotFoundError):
            raise
        raise MissingFile(errno.ENOENT, os.strerror(errno.ENOENT), error.filename) from None
    except ReadError as error:
        path = getattr(error, "filename", None) or next(filter(None, paths), None)
        if isinstance(error, (json.JSONDecodeError, KeyError)) or path is None:
            raise
        _raise_of_document(path, str(error))
        raise


def _raise_of_document(path, sentence):
    """By looking at the file again, which happens only after an error."""
    if not os.fspath(path).endswith((".json", ".json.gz")) or not os.path.isfile(path):
        return
    with reading(path, sentence):
        with open(path, "rb") as file:
            text = file.read()
        if text.startswith(b"\x1f\x8b"):
            try:
                text = gzip.decompress(text)
            except (OSError, EOFError):
                return
        document = json.loads(text.decode("utf-8", errors="replace"))
    events_of(document, path, sentence)
