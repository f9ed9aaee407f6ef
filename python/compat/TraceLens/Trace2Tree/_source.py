"""Where the events of a file's tree come from: the native core, which makes them when asked."""

import copy
import errno
import os
import threading
import warnings

from .._errors import MissingFile, reading_natively

# What a tree has of its events, made when it is first asked for.
MADE_ON_USE = frozenset((
    "events", "events_by_uid", "cpu_root_nodes", "name2event_uids", "metadata",
    "seq_num2event_uids_map", "dict_stream_index2event", "linking_key", "runtime_event_uids",
    "ac2g_event_map", "pid_tid_event_map", "linking_id_to_gpu_events",
))  # fmt: skip
_WITHOUT_EVENTS = frozenset(("metadata", "linking_key", "runtime_event_uids", "name2event_uids",
                             "cpu_root_nodes", "seq_num2event_uids_map"))  # fmt: skip
_COMPARED = frozenset(("metadata", "cpu_root_nodes"))


class FileSource:
    """The trace of a file and its events, which a program may look at and change.

    Threads may ask first at the same time: they all get the same events, with all results on them.
    """

    def __init__(self, trace, path, captures=None):
        self._trace = trace
        self._path, self._captures = path, captures
        self._store = None
        self._frames = False
        self.metadata = _as_json(trace.metadata)
        self._as_made = {}  # what the events do not tell, as the program got it
        self.was_seen = False  # whether the program has an event in its hands
        self.pending = []  # results to put onto events before it does
        self.lock = threading.RLock()  # writing results asks for events

    @classmethod
    def of(cls, path, captures=None):
        """ReadError when the core does not know the file, but a reader of JSON might."""
        from tracelens import _native

        if not os.path.exists(path):
            raise MissingFile(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if captures is not None:
            captures = os.fspath(captures)
            with reading_natively(path):
                return cls(_native.scripts.prepared_trace(path, captures=captures), path, captures)
        trace = _native.read(path)
        _warn_of_damage(trace, path)
        return cls(trace, path)

    def build(self, python_frames, mark_idle_paths, link_fwd_bwd):
        with self.lock:
            self._frames = python_frames
            if self._store is None:
                self._marks, self._links = mark_idle_paths, link_fwd_bwd
            else:
                self._store.build(python_frames=python_frames, mark_non_gpu_paths=mark_idle_paths,
                                  link_fwd_bwd=link_fwd_bwd)  # fmt: skip

    def _events(self):
        with self.lock:
            if self._store is None:
                from tracelens import _native

                self._store = _native.EventStore(
                    self._trace, python_frames=self._frames,
                    mark_non_gpu_paths=getattr(self, "_marks", True),
                    link_fwd_bwd=getattr(self, "_links", True))  # fmt: skip
            return self._store

    def _show(self):
        """Before the program sees an event, what analyses left on events is put there."""
        with self.lock:
            if not self.was_seen:
                self.was_seen = True
                pending, self.pending = self.pending, []
                for write in pending:
                    write()

    def leave(self, write):
        """Runs `write()` at once when the program has seen events, else before it sees the first."""
        with self.lock:
            if self.was_seen:
                write()
            else:
                self.pending.append(write)

    def make(self, name):
        if name not in _WITHOUT_EVENTS:
            self._show()
        made = getattr(self._events(), name)
        if name == "pid_tid_event_map":  # flows have numbers of their own
            made = {place: event for place, event in made.items() if event.get("cat") != "fwdbwd"}
        if name in _COMPARED:
            self._as_made[name] = list(made) if isinstance(made, list) else copy.deepcopy(made)
        return made

    def forget_made(self):
        self._as_made.clear()

    def event(self, uid):
        self._show()
        return self._events().event(uid)

    def take_lists(self, tree):
        """Lists that the program put in the place of those it was given are the tree's from now on."""
        for name in ("events", "events_by_uid", "cpu_root_nodes"):
            if name in tree.__dict__ and tree.__dict__[name] is not getattr(self._events(), name):
                self._show()
                setattr(self._events(), name, tree.__dict__[name])

    def is_edited(self, tree):
        """Whether anything that tables depend on is not as the core made it."""
        with self.lock:
            self.take_lists(tree)
            for name, made in self._as_made.items():
                if tree.__dict__.get(name, made) != made:
                    return True
            return self.was_seen and (self._events().dirty() or self._events().synced() is not self._trace)

    def native_trace(self, tree):
        with self.lock:
            self.take_lists(tree)
            return self._events().synced() if self.was_seen else self._trace

    def uids(self):
        """UIDs of the rows of native_trace(); None where they are the row numbers."""
        return self._store.uids() if self.was_seen and self._store is not None else None

    def rows(self, uids):
        """The rows of native_trace() that have these UIDs."""
        return self._store.rows(uids) if self.was_seen and self._store is not None else uids

    def add_pseudo_ops(self, python_frames):
        from tracelens import _native

        self._trace = _native.scripts.prepared_trace(
            self._path, captures=self._captures, pseudo_ops=True, python_frames=python_frames)  # fmt: skip
        self._store = None


def _as_json(value):
    """What the file holds: lists where the core has tuples."""
    if isinstance(value, dict):
        return {key: _as_json(each) for key, each in value.items()}
    return [_as_json(each) for each in value] if isinstance(value, (list, tuple)) else value


def _warn_of_damage(trace, path):
    """Other readers refuse such a file: the user is to know that something may be missing."""
    found = [f"{what} ({count:,})" if count > 1 else what for what, count, _ in trace.warnings]
    if found:
        warnings.warn(f"{path}: {'; '.join(found)}", stacklevel=5)
