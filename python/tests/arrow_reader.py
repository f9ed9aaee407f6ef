"""Reads a stream of Arrow's C interface by ctypes, as its specification says, and nothing else."""

import ctypes as c
import struct


class Schema(c.Structure):
    pass


Schema._fields_ = [
    ("format", c.c_char_p), ("name", c.c_char_p), ("metadata", c.c_void_p), ("flags", c.c_int64),
    ("n_children", c.c_int64), ("children", c.POINTER(c.POINTER(Schema))),
    ("dictionary", c.POINTER(Schema)), ("release", c.CFUNCTYPE(None, c.POINTER(Schema))),
    ("private_data", c.c_void_p),
]


class Array(c.Structure):
    pass


Array._fields_ = [
    ("length", c.c_int64), ("null_count", c.c_int64), ("offset", c.c_int64),
    ("n_buffers", c.c_int64), ("n_children", c.c_int64), ("buffers", c.POINTER(c.c_void_p)),
    ("children", c.POINTER(c.POINTER(Array))), ("dictionary", c.POINTER(Array)),
    ("release", c.CFUNCTYPE(None, c.POINTER(Array))), ("private_data", c.c_void_p),
]


class Stream(c.Structure):
    pass


Stream._fields_ = [
    ("get_schema", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Schema))),
    ("get_next", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Array))),
    ("get_last_error", c.CFUNCTYPE(c.c_char_p, c.POINTER(Stream))),
    ("release", c.CFUNCTYPE(None, c.POINTER(Stream))), ("private_data", c.c_void_p),
]

FIXED = {b"l": c.c_int64, b"g": c.c_double, b"I": c.c_uint32, b"C": c.c_uint8}
OFFSETS = {b"u": c.c_int32, b"U": c.c_int64}


def stream_of(capsule):
    get = c.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
    return Stream.from_address(get(capsule, b"arrow_array_stream"))


def bit(address, row):
    return (c.c_uint8.from_address(address + row // 8).value >> (row % 8)) & 1


def cells(array, format):
    """The values of one array; None where there is none."""
    there = array.buffers[0]
    def value(row):
        if there and not bit(there, row):
            return None
        if format == b"b":
            return bool(bit(array.buffers[1], row))
        if format in FIXED:
            kind = FIXED[format]
            return kind.from_address(array.buffers[1] + row * c.sizeof(kind)).value
        offset = OFFSETS[format]
        begin, end = (offset.from_address(array.buffers[1] + (row + i) * c.sizeof(offset)).value
                      for i in (0, 1))
        return c.string_at(array.buffers[2] + begin, end - begin).decode()
    return [value(row) for row in range(array.length)]


def metadata(address):
    pairs = {}
    if address:
        count, = struct.unpack("i", c.string_at(address, 4))
        texts, at = [], address + 4
        for _ in range(2 * count):
            size, = struct.unpack("i", c.string_at(at, 4))
            texts.append(c.string_at(at + 4, size).decode())
            at += 4 + size
        pairs = dict(zip(texts[::2], texts[1::2]))
    return pairs


def read(source):
    """({column: (format, metadata)}, {column: values}, batches) of an object that speaks Arrow."""
    capsule = source.__arrow_c_stream__()
    stream, schema = stream_of(capsule), Schema()
    assert stream.get_schema(stream, schema) == 0
    fields = [schema.children[i].contents for i in range(schema.n_children)]
    about = {f.name.decode(): (f.format.decode(), metadata(f.metadata)) for f in fields}
    columns = {name: [] for name in about}
    batches = 0
    while True:
        array = Array()
        assert stream.get_next(stream, array) == 0
        if not array.release:
            break
        batches += 1
        for place, (name, field) in enumerate(zip(columns, fields)):
            child = array.children[place].contents
            values = cells(child, field.format)
            if child.dictionary:
                texts = cells(child.dictionary.contents, field.dictionary.contents.format)
                values = [None if value is None else texts[value] for value in values]
            columns[name] += values
        array.release(array)
        assert not array.release  # marked as released
    schema.release(schema)
    stream.release(stream)
    assert not schema.release and not stream.release
    return about, columns, batches
