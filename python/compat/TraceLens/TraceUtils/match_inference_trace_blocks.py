"""Steps of two serving traces that did the same work: runs of one phase, compared by their tokens."""

import argparse
import csv
import json
import os
import sys
from dataclasses import dataclass, field
from itertools import groupby

from .annotation_utils import (
    PHASE_DECODE_ONLY,
    PHASE_PREFILL_ONLY,
    PHASE_PREFILLDECODE,
    average_detail,
    classify_phase,
    find_known_annotations,
    iteration_details,
)
from .split_inference_trace_annotation import (
    base_name_from_path,
    extract_window,
    load_trace,
    phase_text,
    preprocess_trace,
)

PHASES = (PHASE_DECODE_ONLY, PHASE_PREFILLDECODE, PHASE_PREFILL_ONLY)
_COMPARED = {
    PHASE_DECODE_ONLY: ("g_sq", "g_sk"),
    PHASE_PREFILLDECODE: ("context_requests", "generation_requests", "c_sq", "g_sq"),
    PHASE_PREFILL_ONLY: ("context_requests", "generation_requests", "c_sq", "g_sq"),
}
_AVERAGES = {"context_requests": "c_req", "generation_requests": "g_req", "c_sq": "c_sq", "c_sk": "c_sk",
             "g_sq": "g_sq", "g_sk": "g_sk"}  # and their names in the table


@dataclass
class Block:
    """Consecutive steps of one phase, `start_idx` to `end_idx` of the trace's steps."""

    phase: str
    start_idx: int
    end_idx: int
    roots: list = field(default_factory=list)
    details: list = field(default_factory=list)
    original_num_steps: int = 0

    def __post_init__(self):
        self.original_num_steps = self.original_num_steps or self.num_steps

    @property
    def num_steps(self):
        return self.end_idx - self.start_idx

    @property
    def truncated(self):
        return self.num_steps != self.original_num_steps

    def has_full_sqsk(self):
        return all(detail.get("has_sqsk") for detail in self.details)

    def avg(self, key):
        return average_detail(self.details, key)


def find_blocks(roots):
    """Runs of equal phase; an idle step ends a run, and decoding takes two steps to be one."""
    details = iteration_details(roots, full=True)
    blocks, start = [], 0
    for phase, run in groupby(details, key=classify_phase):
        end = start + len(list(run))
        if phase is not None and (phase != PHASE_DECODE_ONLY or end - start >= 2):
            blocks.append(Block(phase, start, end, roots[start:end], details[start:end]))
        start = end
    return blocks


def window_blocks(blocks, max_steps):
    """Long blocks cut into windows of so many steps, from the start; what is left over goes."""
    if max_steps <= 0:
        return blocks
    windows = []
    for block in blocks:
        if block.num_steps <= max_steps:
            windows.append(block)
            continue
        for first in range(0, block.num_steps - max_steps + 1, max_steps):
            end = first + max_steps
            windows.append(Block(block.phase, block.start_idx + first, block.start_idx + end,
                                 block.roots[first:end], block.details[first:end], block.num_steps))
    return windows


def _avg_block_distance(a, b):
    """How far two blocks are apart, as a tuple that compares; None where they cannot be compared."""
    if a.phase != b.phase or a.num_steps != b.num_steps:
        return None
    pairs = list(zip(a.details, b.details))
    return tuple(sum(abs(x.get(key, 0) - y.get(key, 0)) for x, y in pairs) / len(pairs)
                 for key in _COMPARED[a.phase])


def select_best_per_phase(a_blocks, b_blocks, phases):
    """(the closest pair of every phase, a note for every phase without one)"""
    matches, notes = [], []
    for phase in phases:
        a_of_phase, b_of_phase = ([(i, block) for i, block in enumerate(blocks)
                                   if block.phase == phase and block.has_full_sqsk()]
                                  for blocks in (a_blocks, b_blocks))
        best = None
        for i, a in a_of_phase:
            for j, b in b_of_phase:
                distance = _avg_block_distance(a, b)
                if distance is None:
                    continue
                rank = (distance, -min(a.original_num_steps, b.original_num_steps), -a.num_steps)
                if best is None or rank < best[0]:
                    best = (rank, i, j, a, b)
        if best is None:
            sizes = {b.num_steps for _, b in b_of_phase}
            same_size = sum(a.num_steps in sizes for _, a in a_of_phase)
            notes.append({"phase": phase, "note": "no eligible (A, B) pair found (A blocks of phase: "
                          f"{len(a_of_phase)}, with same-size B candidate: {same_size})"})
            continue
        (distance, *_), i, j, a, b = best
        matches.append({"phase": phase, "a_block_index": i, "b_block_index": j, "a_block": a, "b_block": b,
                        "num_steps": a.num_steps, "distance": [round(value, 6) for value in distance]})
    return matches, notes


def compute_output_path(output_dir, phase, label, base_name, block):
    return os.path.join(output_dir, phase, f"{label}_{phase_text(block.details)}_{base_name}.json.gz")


def _block_steps(block):
    return [{"step": block.start_idx + offset, "name": detail.get("name"),
             "num_context": detail.get("context_requests", 0), "num_generation": detail.get("generation_requests", 0),
             **{key: detail.get(key, 0) for key in ("c_sq", "c_sk", "g_sq", "g_sk")}}
            for offset, detail in enumerate(block.details)]


def _block_summary_dict(block):
    return {**{f"avg_{key}": round(block.avg(key), 3) for key in _AVERAGES}, "start": block.start_idx,
            "end": block.end_idx, "num_steps": block.num_steps, "original_num_steps": block.original_num_steps,
            "truncated": block.truncated}


class _Side:
    """One of the two traces."""

    def __init__(self, letter, path, max_steps):
        self.letter, self.path = letter, path
        self.trace = load_trace(path)
        self.blocks = window_blocks(find_blocks(find_known_annotations(self.trace["traceEvents"])), max_steps)
        self.index = None

    def written(self, folder, match, label, extract):
        """The path of a block, after writing it if it shall be written."""
        block = match[f"{self.letter.lower()}_block"]
        path = compute_output_path(folder, match["phase"], f"{label}_{self.letter}", base_name_from_path(self.path),
                                   block)
        if extract:
            self.index = self.index or preprocess_trace(self.trace["traceEvents"])
            extract_window(self.trace, block.roots, self.index, path)
        return path

    def report(self, match, path):
        block = match[f"{self.letter.lower()}_block"]
        return {"block_index": match[f"{self.letter.lower()}_block_index"], "trace": self.path, "output_path": path,
                **_block_summary_dict(block), "steps": _block_steps(block)}


def _table_row(entry):
    row = {"match_id": entry["match_id"], "phase": entry["phase"], "num_steps": entry["num_steps"],
           "distance": "|".join(str(value) for value in entry["distance"])}
    for side in ("TraceA", "TraceB"):
        about = entry[side]
        row.update({f"{side}_{key}": about[key] for key in ("trace", "block_index", "start", "end",
                                                            "original_num_steps", "truncated")})
        row.update({f"{side}_avg_{short}": about[f"avg_{key}"] for key, short in _AVERAGES.items()})
        row[f"{side}_output_path"] = about["output_path"]
    return row


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description="Finds the parts of two serving traces that did the same work.")
    parser.add_argument("trace_a")
    parser.add_argument("trace_b")
    parser.add_argument("-o", "--output-dir", required=True)
    parser.add_argument("--no-extract", action="store_true", help="report the pairs, write no traces")
    parser.add_argument("--phases", default=f"{PHASE_DECODE_ONLY},{PHASE_PREFILLDECODE}",
                        help="which phases, separated by commas")
    parser.add_argument("--num-steps", type=int, default=16, help="steps of a window; 0: blocks as they are")
    return parser.parse_args(argv)


def main(argv=None):
    options = parse_arguments(argv)
    phases = [phase.strip() for phase in options.phases.split(",") if phase.strip()]
    unknown = [phase for phase in phases if phase not in PHASES]
    if unknown:
        print(f"unknown phases {', '.join(unknown)}; expected some of {', '.join(PHASES)}", file=sys.stderr)
        return 2
    folder = options.output_dir
    os.makedirs(folder, exist_ok=True)
    sides = [_Side(letter, path, options.num_steps) for letter, path in zip("AB", (options.trace_a, options.trace_b))]
    matches, notes = select_best_per_phase(sides[0].blocks, sides[1].blocks, phases)
    entries = []
    for number, match in enumerate(matches):
        label = f"{match['phase']}_best_A{match['a_block_index']}_B{match['b_block_index']}"
        entry = {"match_id": number, "phase": match["phase"], "num_steps": match["num_steps"],
                 "distance": match["distance"]}
        for side in sides:
            path = side.written(folder, match, label, not options.no_extract)
            entry[f"Trace{side.letter}"] = side.report(match, path)
        entries.append(entry)
    for name, content in (("match_report.json", entries), ("match_notes.json", notes)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
    if entries:
        rows = [_table_row(entry) for entry in entries]
        with open(os.path.join(folder, "match_report.csv"), "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
