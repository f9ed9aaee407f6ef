"""Collectives in the text that XLA dumps of an optimized module."""

import math
import re

KINDS = ("all-to-all", "all-gather", "all-reduce", "reduce-scatter", "collective-permute")
_SIZES = {"bf16": 2, "f16": 2, "half": 2, "f32": 4, "float": 4, "f64": 8, "double": 8, "s8": 1, "u8": 1, "pred": 1,
          "s16": 2, "u16": 2, "s32": 4, "u32": 4, "s64": 8, "u64": 8, "c64": 8, "c128": 16}  # fmt: skip
_NAME = re.compile(r'scheduling_name="([^"]*)"')
_GROUPS = re.compile(r"replica_groups=(\{\{.*?\}\}|\[[\d,]+\]<=\[[\d,]+\](?:T\([\d,]+\))?)")
_PAIRS = re.compile(r"source_target_pairs=(\{\{.*?\}\})")
_IOTA = re.compile(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_ARRAY = re.compile(r"([a-zA-Z]+[0-9]*)\[([0-9,]+)\](?:\{[0-9,]+\})?")
_SPLIT = re.compile(r"dimensions=\{(\d+)\}")


def _numbers(text):
    return [int(word) for word in text.split(",") if word.strip()]


def replica_groups(text):
    """Lists of ranks: written out, or as `[groups,size]<=[dims]T(order)`."""
    if text is None:
        return None
    iota = _IOTA.fullmatch(text)
    if iota is None:
        return [_numbers(group) for group in re.findall(r"\{([\d, ]+)\}", text)]
    import numpy as np

    shape, dims = _numbers(iota[1]), _numbers(iota[2])
    ranks = np.arange(math.prod(shape)).reshape(dims)
    if iota[3]:
        ranks = ranks.transpose(_numbers(iota[3]))
    return ranks.reshape(shape[0], -1).tolist() if len(shape) > 1 else [ranks.ravel().tolist()]


def output_part(name, tensors):
    """Of the tuple of an asynchronous start only what it makes; of others the whole text."""
    if not ("all-gather-start" in name or "all-to-all" in name) or not tensors.startswith("("):
        return tensors
    depth, parts, start = 0, [], 1
    for at, letter in enumerate(tensors):
        depth += (letter in "([{") - (letter in ")]}")
        if (letter == "," and depth == 1) or depth == 0:
            parts.append(tensors[start:at])
            start = at + 1
            if depth == 0:
                break
    return parts[1] if len(parts) > 1 else tensors


def slices(tensors, group_size, split):
    """What one rank has of each array: {dtype, dimensions, bytes}."""
    found = []
    for dtype, dims in _ARRAY.findall(tensors):
        dims = _numbers(dims)
        if split is not None:
            if split >= len(dims) or dims[split] % group_size:
                continue
            dims[split] //= group_size
        found.append({"dtype": dtype, "dimensions": dims,
                      "bytes": math.prod(dims) * _SIZES.get(dtype.lower(), 0)})  # fmt: skip
    return found


def collectives_of(lines, node):
    """One row per collective of a dump."""
    rows = []
    for line in map(str.strip, lines):
        name = _NAME.search(line)
        if name is None or not any(kind in name[1] for kind in KINDS):
            continue
        groups = _GROUPS.search(line) or _PAIRS.search(line)
        text = groups[1] if groups else None
        parsed = replica_groups(text)
        size = len(parsed[0]) if parsed else 0
        split = _SPLIT.search(line)
        tensors = _tensors(line)
        found = None
        if tensors and size:
            found = slices(output_part(name[1], tensors), size, int(split[1]) if split else None) or None
        rows.append({
            "node": node, "collective_name": name[1], "replica_string": text, "replica_groups": parsed,
            "replica_group_size": size, "tensors": tensors, "split_dimension": int(split[1]) if split else None,
            "tensor_slice": found, "data(bytes)": sum(each["bytes"] for each in found) if found else 0,
        })  # fmt: skip
    return rows


def _tensors(line):
    found = re.search(r"= (.*?) (?:%s)(?:-start|-done)?\(" % "|".join(KINDS), line)
    if found is None:
        found = re.search(r"= (.*?)(?: \w[\w-]*\(|, channel_id|, replica_groups|$)", line)
    return found[1].rstrip(",") if found else None
