"""Errors of reading: programs may catch Python's own classes, or those of tracelens."""

import contextlib
import json

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
