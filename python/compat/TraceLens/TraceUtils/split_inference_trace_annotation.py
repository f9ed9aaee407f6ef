"""Cutting a serving trace into steps and windows of steps.

The command is the native one; the functions here do the same to one window, on dictionaries.
"""

import gzip
import json
import os
import re
import sys
import zipfile
from collections import defaultdict

from .._command import run_script
from .annotation_utils import find_phase_from_window, iteration_details

_GPU = frozenset(("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"))
_BATCHES = ("vllm::unified_attention_with_output", "sgl_kernel::sgl_per_token_group_quant_8bit")


def parse_range(range_str, max_len):
    """`all`, `N` or `START:END` as (start, end)."""
    if range_str == "all":
        return 0, max_len
    if ":" in range_str:
        start, end = map(int, range_str.split(":"))
        return start, min(end, max_len)
    return int(range_str), int(range_str) + 1


def get_filename(path):
    """The path itself; of an archive, the name of the first JSON file in it."""
    if not path.endswith(".zip"):
        return path
    with zipfile.ZipFile(path) as archive:
        return next(name for name in archive.namelist() if name.endswith((".json", ".json.gz")))


def load_trace(path):
    """The document of a .json, .json.gz or .zip file."""
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            data = archive.read(get_filename(path))
    else:
        with open(path, "rb") as file:
            data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return json.loads(data.decode("utf-8", errors="replace"))


def preprocess_trace(events):
    """(GPU events by correlation, flow events by id, events that describe processes and threads)"""
    gpu, flows, metadata = defaultdict(list), defaultdict(list), []
    for event in events:
        if event.get("ph") == "M" or "ts" not in event:
            metadata.append(event)
        elif event.get("ph") in ("s", "f"):
            flows[event.get("id")].append(event)
        elif event.get("cat") in _GPU:
            correlation = (event.get("args") or {}).get("correlation")
            if correlation is not None:
                gpu[correlation].append(event)
    return gpu, flows, metadata


def base_name_from_path(path):
    """The name of a trace without what says that it is one."""
    name = os.path.basename(path)
    for ending in (".pt.trace", ".json.gz", ".json", ".zip"):
        name = name.replace(ending, "")
    return name


def phase_text(details):
    """The phases of a window, as they stand in the names of files."""
    p = find_phase_from_window(details)
    return (f"prefill_{p['num_prefill']}_prefilldecode_{p['num_prefilldecode']}_decode_{p['num_decode']}"
            f"_bs{p['avg_bs']}_conc{p['avg_conc']}")


def extract_window(trace, roots, index, path):
    """Writes the events of some steps, with the GPU work they launched; gives what was written in numbers.

    `index` is what `preprocess_trace` gave.
    """
    gpu, flows, metadata = index
    events, gpu_count, busy, span = [], 0, 0, 0
    for root in roots:
        inside = [event for event in trace["traceEvents"] if _is_inside(event, root)]
        seen = dict.fromkeys(correlation for correlation in
                             ((event.get("args") or {}).get("correlation") for event in inside)
                             if correlation is not None)
        launched = [event for correlation in seen for event in gpu.get(correlation, ())]
        events += inside
        events += [event for correlation in seen for event in flows.get(correlation, ())]
        events += launched
        gpu_count += len(launched)
        busy += sum(event.get("dur", 0) for event in launched)
        if launched:
            span += max(e["ts"] + e.get("dur", 0) for e in launched) - min(e["ts"] for e in launched)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump({**trace, "traceEvents": events + metadata}, file)
    details = iteration_details(roots)
    return {"output_path": path, "event_count": len(events) + len(metadata), "num_gpu_events": gpu_count,
            "gpu_duration": span, "gpu_busy_duration": busy, "steps": details,
            "phase": find_phase_from_window(details)}


def _is_inside(event, root):
    """Whether a host event lies within a step on its thread."""
    return ("ts" in event and "dur" in event and event.get("ph") != "M" and event.get("pid") == root["pid"]
            and event.get("tid") == root["tid"] and event["ts"] >= root["ts"]
            and event["ts"] + event["dur"] <= root["ts"] + root["dur"])


def batch_sizes(events):
    """Distinct first sizes of the inputs of ops that see the whole batch."""
    sizes = []
    for event in events:
        shapes = (event.get("args") or {}).get("Input Dims")
        if any(name in event.get("name", "") for name in _BATCHES) and shapes and shapes[0]:
            sizes.append(shapes[0][0])
    return list(dict.fromkeys(sizes))


def file_safe(name):
    """An annotation as part of the name of a file."""
    return re.sub(r"[):]", "", re.sub(r"[/( ]", "_", name))


def main(argv=None):
    return run_script("TraceLens_split_inference_trace", argv)


if __name__ == "__main__":
    sys.exit(main())
