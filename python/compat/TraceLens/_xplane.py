"""A JAX profile (.xplane.pb) as the document that the trace viewer shows: events of the host's threads and the GPUs'
streams, and the names of both. Lines that viewers derive from these (steps, XLA ops, name scopes) are not made.
"""

import contextlib
import gzip
import os
import struct

_HOST = "/host:CPU"
_SKIPPED_LINES = ("Async XLA Ops", "_counters_")
_INTERNAL = frozenset((
    "MemoryAllocation", "MemoryDeallocation", "PrefetchProduce", "PrefetchConsume", "ParallelInterleaveProduce",
    "ParallelInterleaveConsume", "ParallelInterleaveInitializeInput", "ParallelMapProduce", "ParallelMapConsume",
    "MapAndBatchProduce", "MapAndBatchConsume", "ParseExampleProduce", "ParseExampleConsume"))
_NOT_SHOWN = frozenset(("kernel_details", "_pt", "_p", "_ct", "_c", "_r", "flops", "program_id", "symbol_id", "flow",
                        "_a", "group_id"))
_EXACT = 2**53  # larger whole numbers are texts, as in JSON


def load_xplane(path):
    """{"traceEvents": [...]}; ValueError for a file that is no profile."""
    host = os.path.basename(path).split(".xplane.pb")[0]
    with refusing_other_files(path):
        planes = sorted(_shown(planes_of(path)), key=lambda pair: pair[0])
        events = [event for pid, plane in planes for event in plane.describe(pid, host)]
        events += [event for pid, plane in planes for event in plane.events(pid)]
    return {"displayTimeUnit": "ns", "traceEvents": events}


def planes_of(path):
    """The planes of a profile: the host, every GPU, the modules that ran."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return [_Plane(body) for number, body in _fields(data) if number == 1]


@contextlib.contextmanager
def refusing_other_files(path):
    """Bytes that mean something else show as fields of the wrong kind."""
    try:
        yield
    except (AttributeError, IndexError, TypeError, struct.error) as error:
        raise ValueError(f"{path} is no profile of JAX: {error}") from None


def _shown(planes):
    """(process id, plane) of the planes that viewers show and that have anything on them."""
    accelerators = [plane for plane in planes if plane.name.startswith("/device:GPU:")]
    accelerators = accelerators or [plane for plane in planes if plane.name.startswith("/device:TPU:")]
    custom = [plane for plane in planes if plane.name.startswith("/device:CUSTOM:")]
    hosts = [plane for plane in planes if plane.name == _HOST][:1]
    numbered = [*((701, plane) for plane in hosts), *((1 + plane.id, plane) for plane in accelerators),
                *((501 + plane.id, plane) for plane in custom)]
    return [(pid, plane) for pid, plane in numbered if plane.lines]


class _Plane:
    def __init__(self, data):
        self.id, self.name, self.lines = 0, "", []
        self.raw_types, self.stat_names = [], {}
        lines = []
        for number, value in _fields(data):
            if number == 1:
                self.id = _signed(value)
            elif number == 2:
                self.name = _text(value)
            elif number == 3:
                lines.append(value)
            elif number == 4:
                self.raw_types.append(_entry(value))
            elif number == 5:
                key, body = _entry(value)
                self.stat_names[key] = _text(_last(body, 2, b""))
        self.event_types = {key: _EventType(body, self) for key, body in self.raw_types}
        self.lines = [_Line(value) for value in lines]

    def describe(self, pid, host):
        """The names of the process and of its threads."""
        about = [("process_name", None, {"name": f"{host} {self.name}"}),
                 ("process_sort_index", None, {"sort_index": pid})]
        for line in self.shown_lines():
            about += [("thread_name", line.tid, {"name": line.name}),
                      ("thread_sort_index", line.tid, {"sort_index": line.tid})]
        for name, tid, args in about:
            event = {"ph": "M", "pid": pid, "name": name, "args": args}
            yield event if tid is None else {**event, "tid": tid}

    def shown_lines(self):
        return [line for line in self.lines if line.raw_events and line.name not in _SKIPPED_LINES]

    def events(self, pid):
        """By thread, then by start, the longer first."""
        events = []
        for line in self.shown_lines():
            events += [(line.tid, start, -duration, event) for start, duration, event in
                       (self.event(pid, line, body) for body in line.raw_events) if event is not None]
        events.sort(key=lambda item: item[:3])
        return [event for *_, event in events]

    def event(self, pid, line, data):
        """(start and duration in picoseconds, event); the event is None for what is internal to the profiler."""
        type_id = offset = duration = 0
        stats = []
        for number, value in _fields(data):
            if number == 1:
                type_id = _signed(value)
            elif number == 2:
                offset = _signed(value)
            elif number == 3:
                duration = _signed(value)
            elif number == 4:
                stats.append(value)
        kind = self.event_types.get(type_id) or _EventType(b"", self)
        start, duration = line.timestamp_ns * 1000 + offset, max(duration, 1)
        if kind.name in _INTERNAL:
            return start, duration, None
        args = {**kind.stats, **self.stats(stats)}
        name = args.pop("step_name", None) or kind.display_name or kind.name
        event = {"ph": "X", "pid": pid, "tid": line.tid, "ts": start / 1e6, "dur": duration / 1e6, "name": name}
        if args:
            event["args"] = args
        return start, duration, event

    def stats(self, bodies):
        """Name -> value of what viewers show of an event."""
        shown = {}
        for body in bodies:
            name, value = self.stat(body)
            if value is not None and name not in _NOT_SHOWN:
                shown[name] = str(value) if isinstance(value, int) and abs(value) > _EXACT else value
        return shown

    def stat(self, data):
        name, result = "", None
        for number, value in _fields(data):
            if number == 1:
                name = self.stat_names.get(_signed(value), "")
            elif number == 2:
                result = struct.unpack("<d", value)[0]
            elif number == 3:
                result = value
            elif number == 4:
                result = _signed(value)
            elif number == 5:
                result = _text(value)
            elif number == 7:
                result = self.stat_names.get(value, "")
        return name, result


class _EventType:
    def __init__(self, data, plane):
        self.name = _text(_last(data, 2, b""))
        self.display_name = _text(_last(data, 4, b""))
        self.stats = plane.stats([value for number, value in _fields(data) if number == 5])


class _Line:
    def __init__(self, data):
        self.raw_events = []
        line_id = display_id = self.timestamp_ns = 0
        name = display_name = ""
        for number, value in _fields(data):
            if number == 1:
                line_id = value
            elif number == 2:
                name = _text(value)
            elif number == 3:
                self.timestamp_ns = _signed(value)
            elif number == 4:
                self.raw_events.append(value)
            elif number == 10:
                display_id = value
            elif number == 11:
                display_name = _text(value)
        self.tid = (display_id or line_id) & 0xFFFFFFFF
        self.name = display_name or name


# --- The wire format of protocol buffers ----------------------------------------------------------------------


def _fields(data):
    """(number, value) of every field of a message: whole numbers as they are, everything else as bytes."""
    position, end = 0, len(data)
    while position < end:
        tag, position = _varint(data, position)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, position = _varint(data, position)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, position = data[position:position + size], position + size
        elif wire == 2:
            size, position = _varint(data, position)
            value, position = data[position:position + size], position + size
        else:
            raise IndexError(f"a field of kind {wire} at byte {position}")
        if position > end:
            raise IndexError("the file is cut short")
        yield number, value


def _varint(data, position):
    result = shift = 0
    while True:
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
        shift += 7
        if shift > 63:
            raise IndexError(f"a number without an end at byte {position}")


def _entry(data):
    """Key and value of an entry of a map."""
    return _signed(_last(data, 1, 0)), _last(data, 2, b"")


def _last(data, wanted, default):
    for number, value in _fields(data):
        if number == wanted:
            default = value
    return default


def _signed(value):
    return value - 2**64 if value >= 2**63 else value


def _text(value):
    return value.decode("utf-8", errors="replace")
