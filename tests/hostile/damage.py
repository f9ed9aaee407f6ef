"""damage.py: files that are not as they were written."""
import json
import os
import threading
import time

import traces
from lab import Failure

VERBS = [["report", "-o", "out.json"], ["check"], ["info"], ["tree"], ["convert", "-o", "out.json"]]


def some_trace(lab):
    name = lab.random.choice(traces.OWN)
    packed = lab.random.random() < 0.3
    data = traces.own(name) if packed else traces.unpacked(name)
    return (name if packed else name.removesuffix(".gz")), data


def read(lab, name, data):
    verb = lab.random.choice(VERBS)
    lab.write(name, data)
    return lab.run([verb[0], name, *verb[1:]], outputs=["out.json"],
                   statuses=(0, 1, 2) if verb[0] == "check" else (0, 2))


def cuts(lab):
    name, data = some_trace(lab)
    read(lab, name, data[:lab.random.randrange(len(data))])


def bit_flips(lab):
    name, data = some_trace(lab)
    data = bytearray(data)
    for _ in range(lab.random.choice((1, 1, 4, 64))):
        data[lab.random.randrange(len(data))] ^= 1 << lab.random.randrange(8)
    read(lab, name, bytes(data))


def fused_events(lab, trace):
    lab.run(["fuse", trace, "--python", "-o", "fused.json"], statuses=(0,), outputs=["fused.json"])
    return len(json.loads(lab.path("fused.json").read_bytes())["traceEvents"])


def nul_pages(lab):
    """What a crash leaves of a sparse file. A page inside the events must not pass in silence, and only the events
    that it stands in are lost, to those who read events and to those who copy them."""
    name = lab.random.choice([n for n in traces.OWN if n.startswith("h200")])
    whole = traces.unpacked(name)
    data = bytearray(whole)
    page = lab.random.choice((64, 512, 4096))
    at = lab.random.randrange(len(data) - page)
    data[at:at + page] = bytes(page)
    lab.write("trace.json", bytes(data))
    done = lab.run(["report", "trace.json", "-o", "out.json"], outputs=["out.json"])
    if done.status == 0 and b"warning:" not in done.stderr:
        raise Failure(f"{page} NUL bytes at byte {at} of {name} went unnoticed")
    if not whole.index(b'"traceEvents"') + 20 < at < whole.rindex(b"]") - page:
        return
    if b"NUL byte" not in done.stderr:
        raise Failure(f"{page} NUL bytes at byte {at} of {name} are called something else")
    lab.write("whole.json", whole)
    before, after = fused_events(lab, "whole.json"), fused_events(lab, "trace.json")
    if before - after > whole[at:at + page].count(b'"ph"') + 2:
        raise Failure(f"{page} NUL bytes at byte {at} of {name}: {after} of {before} events are left")


_large = []


def large_trace():
    if not _large:
        _large.append(traces.flat(12_000, 2, False, 50).encode())
    return _large[0]


def truncation_while_reading(lab):
    """The trace is cut while the program is reading it: a report of what was there, or a sentence."""
    path = lab.write("trace.json", large_trace())
    pause, end = lab.random.uniform(0, 0.03), lab.random.randrange(path.stat().st_size)

    def cut():
        time.sleep(pause)
        os.truncate(path, end)
    knife = threading.Thread(target=cut)
    knife.start()
    try:
        lab.run(["report", "trace.json", "-o", "out.json"], outputs=["out.json"], frozen=False)
    finally:
        knife.join()
