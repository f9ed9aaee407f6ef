"""memory.py: too little memory, and traces that must not ask for too much."""
import io
import resource
import zipfile

import traces
from bombs import needs_limit
from lab import Failure

_least = []


def least_memory(lab):
    """Below it the loader cannot even start the program: nothing that it could say."""
    if not _least:
        limit = 8 << 20
        while True:
            child = lab.start(["--version"], limits=[(resource.RLIMIT_AS, limit)])
            child.communicate()
            if child.returncode == 0:
                break
            limit += 2 << 20
        _least.append(limit)
    return _least[0]


def starved_memory(lab):
    needs_limit(lab)
    name = lab.random.choice(traces.OWN + ["h200_gpt_train_amp.json.gz"] + traces.PERFETTO)
    data = traces.own(name)
    name = name.replace("/", "_")
    if lab.random.random() < 0.3:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, data)
        name, data = "trace.zip", packed.getvalue()
    lab.write(name, data)
    limit = least_memory(lab) + lab.random.randrange(256 << 20)
    verb = lab.random.choice((["report", "-o", "out.xlsx"], ["report", "-o", "out.json"], ["check"], ["tree"],
                              ["report", "-o", "out.json", "--threads", "8"]))
    lab.run([verb[0], name, *verb[1:]], outputs=["out.json", "out.xlsx"],
            limits=[(resource.RLIMIT_AS, limit)], statuses=(0, 1, 2) if verb[0] == "check" else (0, 2))


# Name, how large it is in the quick form, the trace of a size, the arguments.
REPORT = ["report", "trace.json", "-o", "out.json"]
DIFF = ["diff", "trace.json", "trace.json", "-o", "out/"]
GROWTH = [
    ("kernels at once, many streams", 1500, lambda n: traces.flat(n, n // 4, True, 1),
     [*REPORT, "--overlap"]),
    ("kernels at once, many names", 700, lambda n: traces.flat(n, n, True, n), [*REPORT, "--overlap"]),
    ("kernels at once, one stream", 3000, lambda n: traces.flat(n, 1, True, 1), [*REPORT, "--overlap"]),
    ("equal ops inside each other", 1500, lambda n: traces.nested(n, n, False), REPORT),
    ("unlike ops inside each other", 500, lambda n: traces.nested(n, n, True), REPORT),
    ("diff of ops inside each other", 3000, lambda n: traces.nested(n, 1, False, None), DIFF),
    ("unlike ops side by side", 2000, traces.matmuls, REPORT),
]
_next = []


def growth(lab):
    """Twice the trace takes at most 2.2 times the memory."""
    needs_limit(lab)
    if not _next:
        _next.extend(GROWTH)
    name, size, make, arguments = _next.pop(0)
    peaks = []
    for count in (size, 2 * size):
        lab.write("trace.json", make(count))
        peaks.append(lab.peak_kb(arguments))
    if peaks[1] > 2.2 * peaks[0]:
        raise Failure(f"{name}: {peaks[0]} KB for {size}, {peaks[1]} KB for {2 * size}")
