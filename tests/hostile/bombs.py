"""bombs.py: little in the file, much in memory. Each runs with a limit on its memory: the program must
come through, or say in a sentence that it does not."""
import gzip
import io
import resource
import zipfile

import traces
from lab import Skip

LIMIT = [(resource.RLIMIT_AS, 1_500_000_000)]
HEAD, EVENT = b'{"traceEvents":[', b'{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1},'


def needs_limit(lab):
    if not lab.can_limit_memory():
        raise Skip("the memory of a sanitized program cannot be limited")


def content(lab, size):
    """Blanks without end, one text without end, a number without end, arrays in arrays, text that looks like
    the beginning of a block of deflate data every two bytes, events."""
    kind = lab.random.randrange(7)
    if kind == 0:
        return HEAD + b" " * size
    if kind == 1:
        return HEAD + b'{"ph":"X","name":"' + b"n" * size
    if kind == 2:
        return HEAD + b'{"ph":"X","ts":' + b"1" * size
    if kind == 3:
        return HEAD + b'{"ph":"X","args":{"a":' + b"[" * size
    if kind == 4:
        return b"[" * size
    if kind == 5:
        return HEAD + b'{"ph":"X","name":"' + b"P\b" * (size // 2)
    return HEAD + EVENT * (size // len(EVENT) // 4)


def gzip_bombs(lab):
    needs_limit(lab)
    size = lab.random.choice((1, 4, 24)) << 20
    lab.write("bomb.json.gz", gzip.compress(content(lab, size), lab.random.choice((0, 6)), mtime=0))
    threads = lab.random.choice(("1", "8"))  # with 8, others read ahead
    lab.run(["report", "bomb.json.gz", "-o", "out.json", "--threads", threads], outputs=["out.json"],
            limits=LIMIT)


def zstd_frame(parts):
    """Raw blocks of bytes, and blocks that repeat one byte: (byte, count)."""
    out = bytearray(b"\x28\xb5\x2f\xfd\x00\x58")  # no size, a window of 2 MB
    block = 1 << 17
    blocks = []
    for part in parts:
        if isinstance(part, bytes):
            blocks += [(0, part[i:i + block]) for i in range(0, len(part), block)]
        else:
            byte, count = part
            blocks += [(1, byte, block)] * (count // block)
    for i, (kind, data, *size) in enumerate(blocks):
        last = 1 if i + 1 == len(blocks) else 0
        header = last | kind << 1 | (size[0] if size else len(data)) << 3
        out += header.to_bytes(3, "little") + data
    return bytes(out)


def zstd_bombs(lab):
    needs_limit(lab)
    byte = lab.random.choice((b" ", b"n", b"[", b"1", b"\0"))
    head = {b"n": b'{"ph":"X","name":"', b"1": b'{"ph":"X","ts":'}.get(byte, b"")
    size = lab.random.choice((4, 64, 192)) << 20
    lab.write("bomb.json.zst", zstd_frame([HEAD + head, (byte, size)]))
    lab.run(["report", "bomb.json.zst", "-o", "out.json"], outputs=["out.json"], limits=LIMIT)


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def message(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def xplane_bombs(lab):
    """Planes, lines, events and names that take two bytes each."""
    needs_limit(lab)
    size = lab.random.choice((1, 4, 32)) << 20
    kind = lab.random.randrange(6)
    plane = message(2, b"/device:GPU:0")
    if kind == 0:
        data = message(1, plane + message(3, b"\x22\x00" * (size // 2)))  # events of a line
    elif kind == 1:
        data = message(1, plane + b"\x1a\x00" * (size // 2))  # lines
    elif kind == 2:
        data = b"\x0a\x00" * (size // 2)  # planes
    elif kind == 3:
        data = message(1, plane + b"\x22\x00" * (size // 2))  # entries of the map of names
    elif kind == 4:
        name = b"\x08" + varint(lab.random.choice((1000, 65535, 1 << 40)))  # an id far from all others
        data = message(1, plane + message(4, name) + message(5, name)) * (1 << 12)
    else:
        data = message(1, message(2, b"n" * size))  # the name of a plane
    lab.write("bomb.xplane.pb.gz", gzip.compress(data, 6, mtime=0))
    lab.run(["report", "bomb.xplane.pb.gz", "-o", "out.json"], outputs=["out.json"], limits=LIMIT)


def workbook_bombs(lab):
    """A shared string of many megabytes in a workbook of a few kilobytes."""
    needs_limit(lab)
    size = lab.random.choice((8, 64, 192)) << 20
    lab.write("small.json", traces.small())
    lab.run(["report", "small.json", "-o", "good.xlsx"], outputs=["good.xlsx"], statuses=(0,))
    out = io.BytesIO()
    with zipfile.ZipFile(lab.path("good.xlsx")) as good, \
            zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bad:
        sheets = [name for name in good.namelist() if "worksheets/sheet" in name]
        victim = lab.random.choice(sheets)
        for name in good.namelist():
            data = good.read(name)
            if name == victim:
                at = data.find(b"<sheetData>") + len(b"<sheetData>")
                data = (data[:at] + b'<row r="1"><c r="A1" t="inlineStr"><is><t>' + b"x" * size +
                        b"</t></is></c></row>" + data[at:])
            bad.writestr(name, data)
    lab.write("bad.xlsx", out.getvalue())
    lab.run(["compare", "good.xlsx", "bad.xlsx", "-o", "out.json"], outputs=["out.json"], limits=LIMIT)
