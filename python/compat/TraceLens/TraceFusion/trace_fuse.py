"""TraceFuse: the traces of many ranks as one, for a trace viewer."""

import gzip
import json
import os

from .._errors import events_of
from ..Trace2Tree._build import linking_key_of
from ..Trace2Tree._kinds import GPU, category_of
from ..util import DataLoader

_DROPPED_METADATA = ("process_name", "process_sort_index", "process_labels")


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


class TraceFuse:
    """`TraceFuse([rank 0, rank 1, ...])` or `TraceFuse({rank: path})`."""

    def __init__(self, profile_filepaths_list_or_dict, use_multiprocessing=False, max_workers=None):
        given = profile_filepaths_list_or_dict
        if not isinstance(given, dict):
            given = dict(enumerate(given))
        if not given:
            raise ValueError("TraceFuse needs at least one trace file")
        self.rank2filepath = given
        first = self._load(next(iter(given.values())))
        self.linking_key = linking_key_of(first, category_of)
        self.fields_to_adjust_offset = ["id", "pid", self.linking_key]
        self.offset_multiplier = self._multipliers(first)

    @staticmethod
    def _load(path):
        return events_of(DataLoader.load_data(os.fspath(path)), path)

    def _multipliers(self, events):
        """By field: a power of ten beyond the largest value, so that ranks do not collide."""
        largest = {}
        for event in events:
            args = event.get("args") or {}
            for field in self.fields_to_adjust_offset:
                value = args.get(field) if field == self.linking_key else event.get(field)
                if isinstance(value, int):
                    largest[field] = max(largest.get(field, 0), int(value))
        return {field: 10 ** ((len(str(value)) if value else 0) + 1)
                for field, value in largest.items()}  # fmt: skip

    def _default_filter(self, include_pyfunc):
        dropped = {"Trace"} if include_pyfunc else {"Trace", "python_function"}
        return lambda event: event.get("cat") not in dropped

    def _of_rank(self, rank, keep):
        print(f"Processing file: {self.rank2filepath[rank]}")  # programs count these lines
        kept = []
        for event in self._load(self.rank2filepath[rank]):
            if event.get("ph") == "M" and event.get("name") in _DROPPED_METADATA:
                continue
            if keep(event):
                self._adjust(event, rank)
                kept.append(event)
        return kept

    def _adjust(self, event, rank):
        if event.get("args") is None:
            event["args"] = {}
        args = event["args"]
        args["rank"] = rank
        for field, step in self.offset_multiplier.items():
            holder = args if field == self.linking_key else event
            if field not in holder:
                continue
            args[f"{field}_raw"] = holder[field]
            if _is_whole(holder[field]):
                holder[field] += rank * step

    def merge(self, filter_fn=None, include_pyfunc=False):
        """The events of all ranks, those of one rank after those of another."""
        keep = filter_fn or self._default_filter(include_pyfunc)
        merged = [event for rank in self.rank2filepath for event in self._of_rank(rank, keep)]
        merged.extend(_process_names(merged))
        return merged

    def merge_and_save(self, output_file="merged_trace.json", filter_fn=None, include_pyfunc=False):
        """Writes `<output_file>.gz` and returns that path."""
        path = os.fspath(output_file) + ".gz"
        merged = self.merge(filter_fn, include_pyfunc)
        with gzip.open(path, "wt", encoding="utf-8", compresslevel=4) as file:
            json.dump({"traceEvents": merged}, file, indent=4)
        return path


def _process_names(events):
    rank_of, with_gpu = {}, set()
    for event in events:
        pid, rank = event.get("pid"), (event.get("args") or {}).get("rank")
        if event.get("ph") == "M" or not _is_whole(pid) or rank is None:
            continue
        rank_of.setdefault(pid, rank)
        if event.get("cat") in GPU:
            with_gpu.add(pid)
    for pid, rank in sorted(rank_of.items(), key=lambda each: (each[1], each[0])):
        is_gpu = pid in with_gpu
        name = f"RANK {rank} - {'GPU' if is_gpu else 'CPU'}"
        order = 2 * rank + is_gpu
        yield {"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": name}}
        yield {"name": "process_sort_index", "ph": "M", "pid": pid, "tid": 0,
               "args": {"sort_index": order}}  # fmt: skip
