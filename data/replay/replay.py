#!/usr/bin/env python3
# @HEADER@
#
# Inputs are random. No model code, no weights, no names of modules, files or hosts are in here: only the
# names of operators (classes of the model are custom_1, ...), the shapes, strides, types and scalars of
# their arguments, and recorded GPU times.
#
#   python replay.py                 run everything, each op timed and compared with the recording
#   python replay.py --list          what would run, and with which overload
#   python replay.py --kernels       also which kernels ran, and their time alone
#   python replay.py --tune          also try variants (padding, layouts, types, back-ends)
#   python replay.py --json out.json results for a machine; --csv for a table
#
# Needs PyTorch 2.0 or newer and nothing else. Exit status: 0 all ran (or were skipped), 1 some failed,
# 2 wrong usage, 3 no PyTorch.

import argparse
import contextlib
import json
import math
import os
import random
import re
import statistics
import sys
import time

try:
    import torch
except ImportError:
    torch = None

from common import (Skip, argument_parser, beside, chosen, finish, first_line, outcome, print_result,
                    recorded_us, repeat, run_all, say, summary, work)

DATA = json.loads(r'''{"records": []}''')

# ---------------------------------------------------------------- what profilers write for types and enums

DTYPES = {
    "double": "float64", "float": "float32", "c10::Half": "float16", "c10::BFloat16": "bfloat16",
    "long": "int64", "long int": "int64", "long long": "int64", "int": "int32",
    "short": "int16", "short int": "int16", "signed char": "int8", "char": "int8",
    "unsigned char": "uint8", "unsigned short": "uint16", "unsigned short int": "uint16",
    "short unsigned int": "uint16", "unsigned int": "uint32", "unsigned long": "uint64",
    "unsigned long int": "uint64", "long unsigned int": "uint64", "bool": "bool",
    "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
    "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e4m3fnuz": "float8_e4m3fnuz",
    "c10::Float8_e5m2": "float8_e5m2", "c10::Float8_e5m2fnuz": "float8_e5m2fnuz",
    "c10::Float8_e8m0fnu": "float8_e8m0fnu",
}
SCALAR_TYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64",
    8: "complex32", 9: "complex64", 10: "complex128", 11: "bool", 15: "bfloat16", 23: "float8_e5m2",
    24: "float8_e4m3fn", 25: "float8_e5m2fnuz", 26: "float8_e4m3fnuz", 27: "uint16", 28: "uint32",
    29: "uint64", 44: "float8_e8m0fnu",
}
MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc",
           "jagged")


class Reject(Exception):
    """This overload does not fit the recorded arguments."""


def dtype_of(text):
    name = DTYPES.get(text)
    if name is None:
        raise Reject(f"type '{text}' is unknown")
    dtype = getattr(torch, name, None)
    if dtype is None:
        raise Reject(f"this PyTorch has no {name}")
    return dtype


# ---------------------------------------------------------------- tensors

def storage_size(shape, strides):
    """Elements from the first to the last one that a view touches."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))


def contiguous_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def filled(count, dtype, device, fill):
    """A flat buffer. `fill`: None (no matter), "normal", "probability", ("range", limit) or ("all", value)."""
    if fill is None:
        return torch.zeros(count, dtype=dtype, device=device)
    if fill[0] == "all":
        return torch.full((count,), fill[1], dtype=dtype, device=device)
    if dtype == torch.bool:
        return torch.randint(0, 2, (count,), device=device).to(torch.bool)
    if isinstance(fill, tuple):
        return torch.randint(0, max(fill[1], 1), (count,), device=device).to(dtype)
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.zeros(count, dtype=dtype, device=device)
    wide = dtype if dtype.is_complex or dtype.itemsize > 1 else torch.float32
    if fill == "probability":
        return torch.rand(count, dtype=wide, device=device).to(dtype)
    return torch.randn(count, dtype=wide, device=device).to(dtype)


def make_tensor(shape, strides, dtype, device, fill="normal", least=1):
    """Any strides: overlapping ones (expanded tensors) too, because a flat buffer is filled first, of
    `least` elements or more. It takes the shape itself: some ops do not take views."""
    if len(strides) != len(shape) or any(stride < 0 for stride in strides):
        strides = contiguous_strides(shape)
    return filled(max(storage_size(shape, strides), least), dtype, device, fill).as_strided_(shape, strides)


def even_offsets(parts, total, dtype, device, with_zero):
    """0, total/parts, 2 total/parts, ...: `parts` numbers that divide `total` evenly."""
    count = parts - 1 if with_zero else parts
    ends = [total * (i + 1) // max(count, 1) for i in range(count)]
    return torch.tensor((([0] if with_zero else []) + ends)[:parts], dtype=dtype, device=device)


# ---------------------------------------------------------------- integers whose values matter
# An index out of range ends the process, and zeros everywhere would always hit the cache. So integer
# arguments with a meaning get values within it: (op, argument) -> function of the arguments by name.

def count_of(value):
    """Elements of a tensor, made or still to be made."""
    return math.prod(value.shape)


def first_of(args, *names):
    """The first of these arguments that was given."""
    return next((args[name] for name in names if args.get(name) is not None), None)


def size_along_dim(args):
    tensor = args["self"]
    return tensor.shape[args["dim"]] if tensor.dim() else 1


def classes(args):
    return args["self"].shape[1 if args["self"].dim() > 1 else 0]


def rows_of_weight(args):
    return args["weight"].shape[0]


def pooled_positions(args):
    tensor = args["self"]
    return math.prod(tensor.shape[-(3 if "3d" in args["op"] else 2):])


def experts(args):
    """Of a mixture: what says it, else the weights' first size, else the router's last one."""
    number = first_of(args, "num_experts", "global_num_experts", "n_routed_experts", "E")
    if isinstance(number, int) and number > 0:
        return number
    weights = first_of(args, "w1", "w13", "w13_weight", "w", "B", "b_q_weight", "expert_weights", "w2")
    if weights is not None and len(weights.shape) == 3:
        return weights.shape[0]
    router = first_of(args, "router_logits", "gating_output", "router_scores", "logits")
    return router.shape[-1] if router is not None else 1


def cache_pages(args):
    """(pages, tokens in a page) of the cache of keys; (0, 1) without one."""
    cache = first_of(args, "key_cache", "k_cache", "kv_cache", "k_buffer", "kv_buffer", "kv_c_and_k_pe_cache")
    if cache is None or not cache.shape:
        return 0, 1
    shape = list(cache.shape)
    if len(shape) > 4 and shape[0] == 2:  # keys and values in one
        shape = shape[1:]
    size = first_of(args, "block_size", "page_size")
    if not isinstance(size, int) or size < 1:
        size = shape[1] if len(shape) > 3 else 1
    return shape[0], size


def longest_sequence(args):
    """In tokens: what was said, but no more than the cache's pages hold."""
    pages, size = cache_pages(args)
    table = first_of(args, "block_table", "block_tables", "page_table")
    limits = [table.shape[-1] * size] if table is not None and table.shape else []
    limits += [pages * size] if pages else []
    said = first_of(args, "max_seqlen_k", "max_seq_len", "max_context_len", "max_seqlen", "max_kv_len")
    if isinstance(said, int) and said > 0:
        limits.append(said)
    return min(limits, default=1)


def rows_for_offsets(name, args):
    """What cumulative offsets of this name divide: pages, keys or queries, else rows of the first matrix."""
    pages = first_of(args, "kv_indices", "paged_kv_indices")
    if pages is not None and "kv" in name:
        return count_of(pages)
    for ending, keys in (("_k", ("key", "k")), ("_q", ("query", "q"))):
        tensor = first_of(args, *keys)
        if name.endswith(ending) and torch.is_tensor(tensor) and tensor.shape:
            return tensor.shape[0]
    return rows_split_by_offsets(args)


def blocks_of_experts(args):
    """Positions of tokens sorted by expert: each once, then the number that stands for none."""
    ids = first_of(args, "topk_ids")
    return count_of(ids) if ids is not None else rows_split_by_offsets(args)


# What engines for inference call their integers, whatever the op: (name, how to fill it, from what).
#   all: the same everywhere; cycle: 0, 1, 2, ... over and over; upto: the same, but it stays at the end;
#   spread: rising evenly
MEANINGS = [(re.compile(pattern + "$"), how, limit) for pattern, how, limit in (
    (r"topk_ids|topk_indices|topk_idx|selected_experts", "cycle", experts),
    (r"expert_ids|sorted_expert_ids|m_indices", "spread", experts),
    (r"sorted_(token_)?ids", "upto", blocks_of_experts),
    (r"num_tokens_post_pad(ded)?|num_valid_ids", "all",
     lambda args: count_of(first_of(args, "sorted_token_ids", "sorted_ids"))),
    (r"(decode_|prefill_)?(seq_?lens?|context_lens?)(_tensor|_k)?|cache_seqlens|kv_lens?|seqused_k", "all",
     longest_sequence),
    (r"block_tables?|page_table|(paged_)?kv_indices|kv_page_indices|page_indices", "cycle",
     lambda args: cache_pages(args)[0]),
    (r"slot_mapping|out_cache_loc|cache_loc|loc", "cycle", lambda args: math.prod(cache_pages(args))),
    (r"(paged_)?kv_last_page_lens?", "all", lambda args: cache_pages(args)[1]),
    (r"positions|position_ids", "cycle", lambda args: args["cos_sin_cache"].shape[0]),
    (r"input_ids", "cycle", rows_of_weight),
)]
# The same for single ops of PyTorch.
VALUES = {
    ("_assert_async", "self"): ("all", lambda args: 1),  # else it ends the process
    ("ctc_loss", "input_lengths"): ("all", lambda args: args["log_probs"].shape[0]),
    ("ctc_loss", "target_lengths"): ("all", lambda args: args["targets"].shape[-1]),
    ("_ctc_loss", "input_lengths"): ("all", lambda args: args["log_probs"].shape[0]),
    ("_ctc_loss", "target_lengths"): ("all", lambda args: args["targets"].shape[-1]),
    ("_pack_padded_sequence", "lengths"): ("all", lambda args: args["input"].shape[
        1 if args.get("batch_first") else 0]),
    ("repeat_interleave", "repeats"): ("all", lambda args: max(
        (args.get("output_size") or 0) // max(count_of(args["repeats"]), 1), 1)),
    **{(op, "other"): ("all", lambda args: 1) for op in ("div", "floor_divide", "remainder", "fmod")},
}


LIMITS = {
    ("embedding", "indices"): rows_of_weight,
    ("_embedding_bag", "indices"): rows_of_weight,
    ("_embedding_bag_forward_only", "indices"): rows_of_weight,
    ("embedding_bag", "indices"): rows_of_weight,
    ("embedding_dense_backward", "indices"): lambda args: args["num_weights"],
    ("embedding_backward", "indices"): lambda args: args["num_weights"],
    ("nll_loss", "target"): classes,
    ("nll_loss_nd", "target"): classes,
    ("nll_loss_forward", "target"): classes,
    ("nll_loss_backward", "target"): classes,
    ("nll_loss2d_forward", "target"): classes,
    ("nll_loss2d_backward", "target"): classes,
    ("cross_entropy_loss", "target"): classes,
    ("one_hot", "self"): lambda args: args["num_classes"],
    ("max_pool2d_with_indices_backward", "indices"): pooled_positions,
    ("max_pool3d_with_indices_backward", "indices"): pooled_positions,
    ("adaptive_max_pool2d_backward", "indices"): pooled_positions,
    ("adaptive_max_pool3d_backward", "indices"): pooled_positions,
    ("max_unpool2d", "indices"): lambda args: math.prod(args["output_size"]),
    ("ctc_loss", "targets"): lambda args: args["log_probs"].shape[-1],
    ("_ctc_loss", "targets"): lambda args: args["log_probs"].shape[-1],
    ("take", "index"): lambda args: args["self"].numel(),
    ("put", "index"): lambda args: args["self"].numel(),
}
# The same for every op of a family.
ALONG_DIM = re.compile(r"^(index_(select|add|copy|fill|reduce)|gather|scatter|take_along_dim|_index_)")
CUMULATIVE = re.compile(r"^(cu_?seq|cum_seq|cu_?len|offsets?$|offs$|indptr|.*_indptr$)")
PROBABILITIES = {("multinomial", "self"), ("bernoulli", "p"), ("binary_cross_entropy", "self"),
                 ("binary_cross_entropy", "target"), ("binary_cross_entropy_backward", "self"),
                 ("binary_cross_entropy_backward", "target"), ("bernoulli", "self")}
# Arguments that are mostly Python numbers turned into tensors without dimensions, which stay on the host.
PLAIN_NUMBERS = {"other", "exponent", "value", "min", "max", "end", "weight"}
# Written before they are read, so that nothing needs to be in them.
NOT_READ = {("fill", "self"), ("zero", "self"), ("copy", "self")}
# Zero, or the op has nothing to do.
ZERO = {"found_inf"}
# On the host, whatever the device.
ON_HOST = {("_pack_padded_sequence", "lengths")}


def base_name(op):
    """aten::index_add_ -> index_add"""
    name = op.rpartition("::")[2]
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def rows_split_by_offsets(args):
    """The length that cumulative offsets of ragged inputs divide: rows of the first matrix."""
    for value in args.values():
        if torch.is_tensor(value) and value.dim() >= 2 and value.dtype.is_floating_point:
            return value.shape[0]
    for name in ("indices", "input", "self"):
        if torch.is_tensor(args.get(name)):
            return args[name].numel()
    return 0


# ---------------------------------------------------------------- from the record to a call

def kind_of(argument):
    """(base type, is a list, is optional) of a schema argument; the enums keep their names."""
    kind = str(getattr(argument, "real_type", argument.type))
    optional = kind.startswith("Optional[") or kind.endswith("?")
    kind = kind[len("Optional["):-1] if kind.startswith("Optional[") else kind.rstrip("?")
    is_list = kind.startswith("List[") or kind.endswith("]")
    if is_list:
        kind = kind[len("List["):-1] if kind.startswith("List[") else kind[:kind.rindex("[")]
        kind = kind[len("Optional["):-1] if kind.startswith("Optional[") else kind.rstrip("?")
    return kind, is_list, optional


def list_items(text):
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        raise Reject(f"'{text}' is no list")
    return [item.strip() for item in text[1:-1].split(",") if item.strip()]


def to_bool(text):
    if text.lower() not in ("true", "false"):
        raise Reject(f"'{text}' is no bool")
    return text.lower() == "true"


def to_int(text):
    if not re.fullmatch(r"[+-]?\d+", text):
        raise Reject(f"'{text}' is no integer")
    return int(text)


def to_float(text):
    try:
        return float(text)
    except ValueError:
        raise Reject(f"'{text}' is no number") from None


def to_number(text):
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    pair = re.fullmatch(r"\(([^,]+),([^,]+)\)", text)
    if pair:
        return complex(float(pair[1]), float(pair[2]))
    if text.endswith("j"):
        return complex(text.replace(" ", ""))
    return to_float(text)


def to_enum(names, text, what):
    number = to_int(text)
    name = names.get(number) if isinstance(names, dict) else (
        names[number] if 0 <= number < len(names) else None)
    value = getattr(torch, name, None) if name else None
    if value is None:
        raise Reject(f"{what} {number} is unknown")
    return value


SCALARS = {
    "int": to_int, "SymInt": to_int, "float": to_float, "bool": to_bool, "number": to_number,
    "Scalar": to_number,
    "ScalarType": lambda text: to_enum(SCALAR_TYPES, text, "type number"),
    "MemoryFormat": lambda text: to_enum(MEMORY_FORMATS, text, "memory format"),
    "Layout": lambda text: to_enum(LAYOUTS, text, "layout"),
}


class Arguments:
    """Converts the recorded entries of one call to what one overload takes."""

    def __init__(self, record, options):
        self.record, self.options = record, options
        self.types = record["Input type"]
        self.dims = record["Input Dims"]
        self.strides = record.get("Input Strides") or []
        self.concrete = record.get("Concrete Inputs") or []
        self.base = base_name(record["op"])
        self.notes = []

    def entry(self, items, i, default):
        return items[i] if i < len(items) else default

    def nothing_recorded(self, i):
        return (not self.types[i] and not self.entry(self.dims, i, []) and
                self.entry(self.concrete, i, "") == "")

    def convert(self, schema):
        """(positional, keywords, by name), or Reject."""
        values = {"op": self.record["op"]}
        positional, keywords, tensors = [], {}, []
        if len(schema.arguments) < len(self.types):
            raise Reject(f"takes {len(schema.arguments)} arguments, {len(self.types)} were recorded")
        for i, argument in enumerate(schema.arguments):
            given = self.options.arg.get(argument.name)
            if given is not None:
                value = given
            elif i >= len(self.types):
                if not argument.has_default_value():
                    raise Reject(f"'{argument.name}' was not recorded and has no default")
                continue
            elif self.nothing_recorded(i):
                value = self.unrecorded(argument)
            else:
                value = self.recorded(argument, i)
            values[argument.name] = value
            if isinstance(value, Described):
                tensors.append((argument.name, value))
            elif isinstance(value, list) and value and isinstance(value[0], Described):
                tensors.extend((argument.name, each) for each in value)
            if argument.kwarg_only:
                keywords[argument.name] = value
            else:
                # An argument left out before this one is passed by its default.
                for skipped in schema.arguments[len(positional):i]:
                    positional.append(skipped.default_value)
                positional.append(value)
        self.name_list_types(tensors)
        return positional, keywords, values

    def makes_on_gpu(self):
        """Whether this makes a tensor out of nothing, on the GPU: a kernel fills it, or nothing does."""
        if any(text in DTYPES or text == "TensorList" for text in self.types):
            return False
        launches = self.record.get("trace", {}).get("launches", 1)
        return (launches > 0 or self.base.startswith("empty")) and "True" not in self.concrete  # pinned

    def unrecorded(self, argument):
        kind, is_list, optional = kind_of(argument)
        if argument.name == "device" and self.record.get("copy"):
            return torch.device("cpu" if "DtoH" in self.record["copy"] else self.options.device)
        if argument.name == "device" and self.makes_on_gpu():
            return torch.device(self.options.device)
        if argument.has_default_value():
            return argument.default_value
        if optional or (kind == "Tensor" and not is_list):
            return None  # PyTorch takes None for a tensor that is not defined
        if kind in ("Device", "device"):
            return torch.device(self.options.device)
        raise Reject(f"'{argument.name}' ({kind}) was not recorded")

    def recorded(self, argument, i):
        kind, is_list, optional = kind_of(argument)
        text, concrete = self.types[i], str(self.entry(self.concrete, i, ""))
        dims, strides = self.entry(self.dims, i, []), self.entry(self.strides, i, [])
        if kind == "Tensor" and is_list:
            if text != "TensorList":
                raise Reject(f"'{argument.name}' is a list of tensors")
            if not dims:
                raise Skip("the trace does not record which tensors its lists hold")
            strides = strides if len(strides) == len(dims) else [[]] * len(dims)
            return [Described(shape, stride, None) for shape, stride in zip(dims, strides)]
        if kind == "Tensor":
            if text in ("Scalar", "ScalarList", "TensorList", ""):
                raise Reject(f"'{argument.name}' is a tensor")
            return Described(dims, strides, dtype_of(text))
        if is_list:
            if text != "ScalarList":
                raise Reject(f"'{argument.name}' is a list")
            convert = SCALARS.get(kind)
            if convert is None:
                raise Reject(f"'{argument.name}': lists of {kind} are not recorded")
            return [convert(item) for item in list_items(concrete)]
        if kind in ("Device", "device"):
            return torch.device(self.options.device)
        if kind in SCALARS:
            if text != "Scalar" and not (text == "" and concrete):
                raise Reject(f"'{argument.name}' is a {kind}")
            return SCALARS[kind](concrete)
        if argument.has_default_value():
            return argument.default_value
        if optional:
            return None
        raise Reject(f"'{argument.name}' ({kind}) is not recorded in traces")

    def name_list_types(self, tensors):
        """Traces do not record the types of tensors in lists."""
        unknown = [each for _, each in tensors if each.dtype is None]
        if not unknown:
            return
        hint = self.record.get("list type")
        known = [each.dtype for _, each in tensors if each.dtype is not None and
                 each.dtype.is_floating_point]
        if hint in DTYPES:
            dtype = dtype_of(hint)
        elif known:
            dtype = known[0]
        else:
            dtype = getattr(torch, self.options.list_dtype)
            self.notes.append(f"type of listed tensors assumed: {self.options.list_dtype}")
        for name, each in tensors:
            if each.dtype is None:
                each.dtype = torch.int64 if name == "indices" else dtype


class Described:
    """A tensor that is not made yet: an overload may still be rejected."""

    def __init__(self, shape, strides, dtype):
        self.shape, self.strides, self.dtype = shape, strides, dtype
        self.least = 1  # elements behind it

    def bytes(self):
        strides = self.strides
        if len(strides) != len(self.shape):
            strides = contiguous_strides(self.shape)
        return max(storage_size(self.shape, strides), self.least) * self.dtype.itemsize

    def is_plain_number(self):
        """A Python number that became a tensor: no dimensions, of Python's own types."""
        return not self.shape and self.dtype in (torch.float64, torch.int64, torch.bool)


RESHAPES_IN_PLACE = {"squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_", "swapdims_", "as_strided_"}


class Call:
    """One operator with its inputs, ready to run any number of times."""

    def __init__(self, overload, positional, keywords, notes, around=(), is_fresh=False):
        self.overload, self.positional, self.keywords, self.notes = overload, positional, keywords, notes
        self.around = around  # makers of contexts
        self.reshapes = str(overload).split(".")[1] in RESHAPES_IN_PLACE
        self.is_fresh = is_fresh  # what it writes to is memory that nobody has touched

    def __call__(self):
        return self.inside(self.run)

    def inside(self, work):
        """Does it in the contexts that the call ran in."""
        if not self.around:
            return work()
        with contextlib.ExitStack() as stack:
            for context in self.around:
                stack.enter_context(context())
            return work()

    def by_name(self):
        """The arguments that are passed, by their names in the schema."""
        names = [argument.name for argument in self.overload._schema.arguments]
        return {**dict(zip(names, self.positional)), **self.keywords}

    def changed(self, changes):
        """The same call with other values for some arguments."""
        names = [argument.name for argument in self.overload._schema.arguments]
        positional = [changes.get(name, each) for name, each in zip(names, self.positional)]
        keywords = {name: changes.get(name, each) for name, each in self.keywords.items()}
        return Call(self.overload, positional, keywords, [], self.around, self.is_fresh)

    def run(self):
        if not self.reshapes and not self.is_fresh:
            return self.overload(*self.positional, **self.keywords)
        first, *others = self.positional
        # The next call needs the shape as it was.
        first = torch.empty_like(first) if self.is_fresh else first.view(first.shape)
        return self.overload(first, *others, **self.keywords)

    def tensors(self):
        for value in [*self.positional, *self.keywords.values()]:
            yield from (each for each in (value if isinstance(value, list) else [value])
                        if torch.is_tensor(each))


class Inputs:
    """Makes the tensors of a call, in the order of its arguments, with values that fit the op."""

    def __init__(self, record, values, options):
        self.record, self.values, self.options = record, dict(values), options
        self.base = base_name(record["op"])
        self.copies = record.get("copy", "")
        self.has_array = any(isinstance(each, Described) and each.shape for each in values.values())

    def make_all(self, positional, keywords, names):
        # Integers last: their range depends on the shapes of the others.
        order = sorted(self.values, key=lambda name: self.depends_on_others(self.values[name]))
        made = {}
        for name in order:
            made[name] = self.values[name] = self.make(name, self.values[name])
        positional = [made.get(name, value) for name, value in zip(names, positional)]
        return positional, {name: made.get(name, value) for name, value in keywords.items()}

    @staticmethod
    def depends_on_others(value):
        each = value[0] if isinstance(value, list) and value else value
        return isinstance(each, Described) and not (each.dtype.is_floating_point or
                                                    each.dtype.is_complex)

    def make(self, name, value):
        if isinstance(value, list):
            return [self.listed(name, i, each) for i, each in enumerate(value)]
        if not isinstance(value, Described):
            return value
        device = self.device_of(name, value)
        special = self.special(name, value, device)
        if special is not None:
            return special
        tensor = make_tensor(value.shape, value.strides, value.dtype, device, self.fill(name, value),
                             value.least)
        if device == "cpu" and "pinned" in self.copies and torch.cuda.is_available():
            tensor = tensor.pin_memory()
        return tensor

    def listed(self, name, i, value):
        if not isinstance(value, Described):
            return value
        fill = "normal"
        if name == "indices":  # aten::index: the i-th list entry indexes the i-th dimension
            shape = list(self.values["self"].shape)
            if len(self.values[name]) == 1 and self.is_mask(value, shape):
                return self.mask(value)
            fill = ("range", shape[i] if i < len(shape) else 1)
        return make_tensor(value.shape, value.strides, value.dtype, self.options.device, fill)

    def is_mask(self, value, shape):
        """An index as large as what it indexes may pick elements, which takes more than one kernel."""
        launches = self.record.get("trace", {}).get("launches")
        return value.shape == shape[:len(value.shape)] and (
            len(value.shape) > 1 if launches is None else launches > 1)

    def mask(self, value):
        """True as often as there are values."""
        values, count = self.values.get("values"), count_of(value)
        picked = values.shape[0] if values is not None and len(values.shape) > 0 else count // 2
        return (torch.arange(count, device=self.options.device) < picked).reshape(value.shape)

    def device_of(self, name, value):
        if self.options.device == "cpu":
            return "cpu"
        if value.is_plain_number() and self.has_array and name in PLAIN_NUMBERS:
            return "cpu"
        if self.base in ("pin_memory", "_pin_memory", "is_pinned") or (self.base, name) in ON_HOST:
            return "cpu"
        if "HtoD" in self.copies and name in ("src", "self") and not (
                self.base == "copy" and name == "self"):
            return "cpu"
        if "DtoH" in self.copies and self.base == "copy" and name == "self":
            return "cpu"
        return self.options.device

    def fill(self, name, value):
        if (self.base, name) in NOT_READ or name == "out" or name in ZERO:
            return None
        if (self.base, name) in PROBABILITIES:
            return "probability"
        if value.dtype.is_floating_point or value.dtype.is_complex or value.dtype == torch.bool:
            return "normal"
        limit = LIMITS.get((self.base, name))
        if limit is None and name == "index" and ALONG_DIM.match(self.base):
            limit = size_along_dim
        if limit is not None:
            try:
                return ("range", int(limit(self.values)))
            except (KeyError, IndexError, AttributeError, TypeError):
                return ("range", 1)
        return ("range", self.options.int_max) if self.options.int_max > 1 else "normal"

    def meaning(self, name):
        """(how, number) of an argument whose meaning is known by its name; nothing else."""
        how, limit = VALUES.get((self.base, name), (None, None))
        if how is None and "::" in self.record["op"] and not self.record["op"].startswith("aten::"):
            how, limit = next(((how, limit) for pattern, how, limit in MEANINGS if pattern.match(name)),
                              (None, None))
        if how is None:
            return None
        try:
            return how, max(int(limit(self.values)), 0)
        except (KeyError, IndexError, AttributeError, TypeError):
            return "all", 0

    def meant(self, name, value, device):
        """The tensor for such an argument, else nothing."""
        found = self.meaning(name)
        if found is None:
            return None
        (how, number), count = found, count_of(value)
        if how == "all":
            return make_tensor(value.shape, value.strides, value.dtype, device, found)
        if how == "cycle":
            values = torch.arange(count, device=device) % max(number, 1)
        elif how == "upto":
            values = torch.arange(count, device=device).clamp(max=number)
        else:
            values = torch.arange(count, device=device) * max(number, 1) // max(count, 1)
        return values.to(value.dtype).reshape(value.shape)

    def regions(self, value, device):
        """Regions of images: (number of the image, left, top, right, bottom)."""
        corners = torch.rand((value.shape[0], 2), device=device) * 8
        image = torch.zeros((value.shape[0], 1), device=device)
        return torch.cat([image, corners, corners + 8], dim=1).to(value.dtype)

    def special(self, name, value, device):
        """A tensor whose values matter to the op; nothing when any will do."""
        if name == "rois" and len(value.shape) == 2 and value.shape[1] == 5:
            return self.regions(value, device)
        if value.dtype.is_floating_point or value.dtype.is_complex:
            return None
        meant = self.meant(name, value, device)
        if meant is not None:
            return meant
        if value.dtype not in (torch.int32, torch.int64) or len(value.shape) != 1:
            return None
        count = value.shape[0]
        if CUMULATIVE.match(name):
            return even_offsets(count, rows_for_offsets(name, self.values), value.dtype, device,
                                with_zero=name != "offs")
        fill = self.fill(name, value)
        if isinstance(fill, tuple) and fill[1] == count:  # positions: each row once, in order
            return torch.arange(count, dtype=value.dtype, device=device)
        if self.base == "index_copy" and isinstance(fill, tuple) and count <= fill[1]:
            return torch.randperm(fill[1], device=device)[:count].to(value.dtype)
        return None


# What to import for the operators of a namespace, where that has another name.
LIBRARIES = {"_C": "vllm", "_C_cache_ops": "vllm", "_moe_C": "vllm", "_rocm_C": "vllm", "_vllm_fa2_C": "vllm",
             "_vllm_fa3_C": "vllm", "fbgemm": "fbgemm_gpu", "tex": "transformer_engine",
             "flash_attn_2_cuda": "flash_attn", "sglang_profiler": "sglang"}
PYTORCHS_OWN = ("aten", "prim", "prims", "quantized", "profiler", "inductor", "rngprims", "c10d",
                "_c10d_functional", "symm_mem")


def overloads_of(op):
    namespace, separator, name = op.partition("::") if "::" in op else ("aten", "", op)  # "detach"
    if re.fullmatch(r"\w+", namespace) and re.fullmatch(r"\w+", name):
        try:
            packet = getattr(getattr(torch.ops, namespace), name)
            return [getattr(packet, overload) for overload in packet.overloads()]
        except (AttributeError, RuntimeError):
            pass
    if not separator or not re.fullmatch(r"\w+::\w+", op):
        raise Skip("not the name of an operator: code of the model, of a library or of PyTorch itself")
    if namespace in PYTORCHS_OWN:
        raise Skip("no operator of this name in this PyTorch")
    raise Skip(f"needs the library {LIBRARIES.get(namespace, namespace)}, which registers it: see --import")


COLLECTIVE = re.compile(r"^(c10d|_c10d_functional|symm_mem)::|record_param_comms|^nccl:|all_?reduce|"
                        r"all_?gather|reduce_?scatter|all_?to_?all")


def vendor_missing(record):
    """Ops of another vendor's libraries, of which PyTorch has the names but not the code."""
    op, is_rocm = record["op"], getattr(torch.version, "hip", None) is not None
    if not is_rocm and "miopen" in op:
        return "needs MIOpen, which only PyTorch for ROCm has"
    if not is_rocm and "_mm" in op and any(text.endswith("fnuz") for text in record["Input type"]):
        return "multiplies an 8-bit type that only AMD GPUs have"
    if is_rocm and "cudnn" in op:
        return "needs cuDNN, which only PyTorch for CUDA has"
    return None


def reason_to_skip(record):
    op = record["op"]
    if COLLECTIVE.search(op):
        return "a collective"
    if op in ("aten::set_", "aten::set"):
        return "it takes a storage, which traces do not record"
    if vendor_missing(record):
        return vendor_missing(record)
    if op.startswith("triton_") and not record.get("source"):
        return "a Triton kernel whose source the trace does not name"
    return None


def resolve(record, options):
    """(overload, positional, keywords, names, values, notes) of the first overload that fits."""
    reason = reason_to_skip(record)
    if reason:
        raise Skip(reason)
    reasons = []
    recorded = len(record["Input type"])
    candidates = overloads_of(record["op"])
    # Those that take exactly what was recorded first.
    candidates.sort(key=lambda each: len(each._schema.arguments) != recorded)
    for overload in candidates:
        arguments = Arguments(record, options)
        try:
            positional, keywords, values = arguments.convert(overload._schema)
        except Reject as reject:
            reasons.append(f"{overload}: {reject}")
            continue
        names = [argument.name for argument in overload._schema.arguments if not argument.kwarg_only]
        return overload, positional, keywords, names, values, arguments.notes
    raise Skip("no overload fits: " + "; ".join(reasons[:4]))


def free_bytes(options):
    if options.max_gib:
        return options.max_gib * 2**30
    if options.device == "cuda":
        return torch.cuda.mem_get_info()[0] * 0.8
    return 16 * 2**30


def build(record, options):
    overload, positional, keywords, names, values, notes = resolve(record, options)
    described = [each for value in values.values()
                 for each in (value if isinstance(value, list) else [value])
                 if isinstance(each, Described)]
    if base_name(record["op"]).startswith("as_strided") and isinstance(values.get("self"), Described):
        # It may reach beyond its input, from which it takes the memory only.
        values["self"].least = max((values.get("storage_offset") or 0) +
                                   storage_size(values["size"], values["stride"]), 1)
    total = sum(each.bytes() for each in described)
    if total > free_bytes(options):
        raise Skip(f"inputs need {total / 2**30:.1f} GiB")
    positional, keywords = Inputs(record, values, options).make_all(positional, keywords, names)
    return Call(overload, positional, keywords, notes, surroundings(record, options, notes),
                is_fresh="fresh" in record.get("copy", ""))


def surroundings(record, options, notes):
    """Contexts that a call ran in and its arguments do not show."""
    found = []
    # Under autocast an op is recorded with the types it was called with, not those it worked in.
    if record.get("autocast"):
        dtype = dtype_of(record["autocast"])
        notes.append(f"under autocast to {str(dtype)[6:]}")
        found.append(lambda: torch.autocast(options.device, dtype=dtype))
    if record.get("attention"):
        try:
            from torch.nn.attention import SDPBackend, sdpa_kernel
            backend = getattr(SDPBackend, ATTENTION[record["attention"]])
            notes.append(f"back-end of attention: {record['attention']}")
            found.append(lambda: sdpa_kernel(backend))
        except (ImportError, AttributeError, KeyError):
            notes.append("its back-end of attention cannot be chosen in this PyTorch")
    return found


ATTENTION = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION",
             "math": "MATH"}


# ---------------------------------------------------------------- backward through autograd

class BackwardCall:
    """The backward of an op whose backward has no operator of its own: the node that autograd makes of
    the forward, called with gradients like the recorded ones."""

    def __init__(self, record, options):
        self.op, forward = record["op"], record["forward"]
        self.is_in_place = not forward["op"].endswith("::" + base_name(forward["op"]))
        self.forward = build(forward, options)
        self.overload, self.notes = self.forward.overload, [*self.forward.notes, "a node of autograd"]
        self.gradients = recorded_gradients(record, options)
        everything = frozenset(range(sum(is_float(each) for each in self.forward.tensors())))
        if not everything:
            raise Skip("its forward takes nothing that has a gradient")
        self.node = None
        while self.node is None:
            try:
                self.node = self.node_for(everything)
            except NotDifferentiable as error:
                everything -= {error.number}
        self.take_as_recorded(everything, record, options)

    def node_for(self, needed):
        """The node, when these of the forward's inputs need a gradient."""
        number = -1
        names = [argument.name for argument in self.overload._schema.arguments]
        by_name = {}

        def prepared(name, value):
            nonlocal number
            if isinstance(value, list):
                return [prepared(name, each) for each in value]
            if not is_float(value):
                return value
            number += 1
            by_name[name] = number
            value = value.detach()
            if number not in needed:
                return value
            value.requires_grad_()
            return value.clone() if self.is_in_place else value  # what has a gradient may not be changed

        try:
            with torch.enable_grad():
                result = self.overload(
                    *[prepared(name, each) for name, each in zip(names, self.forward.positional)],
                    **{name: prepared(name, each) for name, each in self.forward.keywords.items()})
        except RuntimeError as error:  # it has no derivative by itself, or not by this argument
            argument = re.search(r"with respect to argument '(\w+)'", str(error))
            if argument and by_name.get(argument[1]) in needed:
                raise NotDifferentiable(by_name[argument[1]]) from None
            raise Skip(f"no gradient through its forward: {first_line(error)}") from None
        return node_named(self.op, result if isinstance(result, (tuple, list)) else [result])

    def take_as_recorded(self, everything, record, options):
        """Which inputs needed gradients is not recorded, but the ops and kernels that made them are. All of
        them did, unless fewer are nearer to that."""
        if len(everything) < 2 or not (record.get("below") or record.get("trace", {}).get("launches")):
            return
        whole = node = self.node
        nearest = unlike(ran_once(self, options), record)
        subsets = [everything - {each} for each in sorted(everything)]
        subsets += [frozenset({each}) for each in sorted(everything)] if len(everything) > 2 else []
        for needed in subsets:
            if nearest == (0, False):
                break
            try:
                self.node = self.node_for(needed)
                distance = unlike(ran_once(self, options), record)
            except (NotDifferentiable, RuntimeError, Skip):
                continue
            if distance < nearest:
                nearest, node = distance, self.node
        self.node = node
        if node is not whole:
            self.notes.append("some inputs of its forward without gradients, as recorded")

    def __call__(self):
        return self.node(*self.gradients)


class AccumulateCall:
    """The last node of a backward: adds a gradient to what is there, or keeps a copy of it."""

    def __init__(self, record, options):
        self.gradients = recorded_gradients(record, options)
        if not self.gradients or self.gradients[0] is None:
            raise Skip("the trace does not record its gradient")
        self.overload, self.notes = "AccumulateGrad", ["a node of autograd"]
        gradient = self.gradients[0]
        like = {"dtype": gradient.dtype, "device": gradient.device}
        self.parameter = torch.zeros(gradient.shape, **like)
        self.parameter.requires_grad_()
        with torch.enable_grad():
            self.node = self.parameter.view_as(self.parameter).grad_fn.next_functions[0][0]
        # The first gradient is taken as it is, or copied where it is laid out differently.
        self.adds = "aten::add_" in record.get("below", {})
        if self.adds:
            self.parameter.grad = torch.zeros(gradient.shape, **like)

    def __call__(self):
        if not self.adds:
            self.parameter.grad = None
        self.node(*self.gradients)


class NotDifferentiable(Exception):
    """One input of the forward has no derivative."""

    def __init__(self, number):
        super().__init__()
        self.number = number


def is_float(value):
    return torch.is_tensor(value) and value.dtype.is_floating_point


def recorded_gradients(record, options):
    """What an autograd node was called with; nothing for outputs that were not used."""
    strides = record.get("Input Strides") or []
    return [make_tensor(dims, strides[i] if i < len(strides) else [], dtype_of(text), options.device)
            if text in DTYPES else None
            for i, (text, dims) in enumerate(zip(record["Input type"], record["Input Dims"]))]


def node_named(name, results):
    """The node of this name among those that lead to the results."""
    nodes = [each.grad_fn for each in results if torch.is_tensor(each) and each.grad_fn is not None]
    if not nodes:
        raise Skip("its forward has no gradient")
    for node in nodes:  # which grows
        if node.name() == name:
            return node
        nodes.extend(each for each, _ in node.next_functions if each is not None and each not in nodes)
    raise Skip(f"its forward leads to {nodes[0].name()} in this PyTorch")


def is_op(event):
    return event is not None and event.name.startswith("aten::")


def ran_once(call, options):
    """What one call runs: how often each op, by name, and the names of all on the GPU."""
    from torch.profiler import ProfilerActivity, profile
    on_gpu = options.device == "cuda"
    call()
    synchronize(options)
    with profile(activities=[ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * on_gpu) as profiler:
        call()
        synchronize(options)
    ops, kernels = {}, []
    for event in profiler.events():
        if "CUDA" in str(event.device_type):
            kernels.append(event.name)
        elif is_op(event) and not is_op(event.cpu_parent):  # not what ops call
            ops[event.name] = ops.get(event.name, 0) + 1
    return ops, kernels


def unlike(ran, record):
    """How far this is from what was recorded, in an order: (ops, whether the kernels are others)."""
    (ops, kernels), recorded = ran, record.get("below", {})
    trace = record.get("trace", {})
    main = trace.get("kernels", [])[:1]
    others = "launches" in trace and (len(kernels) != trace["launches"] or not set(main) <= set(kernels))
    # Of the recorded ops only: another PyTorch may call more.
    return sum(abs(ops.get(name, 0) - count) for name, count in recorded.items()), bool(kernels) and others


# ---------------------------------------------------------------- Triton kernels of torch.compile

def hashed(name):
    """What stands for a name that is not told: see --no-kernel-names of tracelens."""
    number = 14695981039346656037
    for byte in name.encode():
        number = (number ^ byte) * 1099511628211 % 2**64
    return f"{number:016x}"


class TritonCall:
    """A kernel that torch.compile made, from the source file that the trace names."""

    def __init__(self, record, options):
        if not options.triton_source:
            raise Skip(f"a Triton kernel: give the folder of {record['source']} with --triton-source")
        path = next((os.path.join(folder, name) for folder, _, files in os.walk(options.triton_source)
                     for name in files if record["source"] in (name, hashed(name) + ".py")), None)
        if path is None:
            raise Skip(f"{record['source']} is not below {options.triton_source}")
        from torch._inductor.codecache import PyCodeCache
        module = PyCodeCache.load_by_key_path(os.path.basename(path)[:-len(".py")], path)
        self.kernel = next((getattr(module, name) for name in dir(module)
                            if record["op"] in (name, "triton_" + hashed(name))), None)
        self.kernel = self.kernel or getattr(module, "triton_")
        self.notes, self.overload = [], record["source"]
        self.arguments = []
        for text, dims, strides, concrete in zip(record["Input type"], record["Input Dims"],
                                                 record["Input Strides"], record["Concrete Inputs"]):
            if text in DTYPES:
                self.arguments.append(make_tensor(dims, strides, dtype_of(text), options.device))
            elif concrete != "":
                self.arguments.append(to_number(str(concrete)))

    def __call__(self):
        # Asked for each time: a graph is captured on a stream of its own.
        return self.kernel.run(*self.arguments, stream=torch.cuda.current_stream().cuda_stream)

    def tensors(self):
        return (each for each in self.arguments if torch.is_tensor(each))


def is_backward(record):
    return record.get("forward") is not None and "::" not in record["op"]


def make_call(record, options):
    if record.get("source"):
        return TritonCall(record, options)
    if record["op"].endswith("::AccumulateGrad"):
        return AccumulateCall(record, options)
    if is_backward(record):
        return BackwardCall(record, options)
    return build(record, options)


# ---------------------------------------------------------------- timing

def synchronize(options):
    if options.device == "cuda":
        torch.cuda.synchronize()


class Stopwatch:
    """Time between two points of the device's queue, in microseconds."""

    def __init__(self, options):
        self.on_gpu = options.device == "cuda"

    def measure(self, work):
        if not self.on_gpu:
            start = time.perf_counter()
            work()
            return (time.perf_counter() - start) * 1e6
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e3


def flush_buffer(options):
    size = 2 * 2**26
    if options.device == "cuda":
        size = 2 * getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 2**26)
    return torch.zeros(size // 4, dtype=torch.int32, device=options.device)


def flush(buffer):
    """Reads the buffer: what it leaves in the cache need not be written back during the next op."""
    buffer.max()


def captured(call, times, notes):
    """The calls as one graph, so that launching them does not count."""
    try:
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            for _ in range(times):
                call()
        return graph.replay
    except RuntimeError as error:
        torch.cuda.synchronize()
        notes.append(f"no graph: {first_line(error)}")
        return None


def timed(call, options, notes):
    """Microseconds per call: median, least, mean, standard deviation, rounds, calls in a round."""
    watch = Stopwatch(options)
    began, calls = time.perf_counter(), 0
    while calls < 50 and time.perf_counter() - began < 0.2:
        call()
        calls += 1
    synchronize(options)
    if options.flush_cache:
        buffer = flush_buffer(options)
        samples = []
        for _ in range(options.rounds):
            flush(buffer)
            samples.append(watch.measure(call))
        return summary(samples, 1)
    once = max(watch.measure(repeat(call, 5)) / 5, 0.1)
    times = min(max(int(1000 / once) + 1, 1), 1000)
    work = captured(call, times, notes) if options.graph and options.device == "cuda" else None
    work = work or repeat(call, times)
    work()
    synchronize(options)
    return summary([watch.measure(work) / times for _ in range(options.rounds)], times)


def profiled(call, record, options):
    """The kernels of one call, longest first, and their time in microseconds (medians over calls). What the
    cache held is not recorded: where a cold one does not explain the recorded time, one with the inputs and
    one that must be written back first are tried. The nearest is taken, and all are told."""
    buffer, recorded = flush_buffer(options), recorded_us(record)
    found, kernels = {}, []
    for cache, before in (("cold", lambda: flush(buffer)), ("warm", lambda: None),
                          ("written", lambda: buffer.add_(1))):
        names, found[cache] = kernels_of_calls(call, before)
        kernels = kernels or names
        if not recorded or not names or abs(found[cache] - recorded) < 0.1 * recorded:
            break
    nearest = min(found, key=lambda cache: abs(found[cache] - recorded))
    return {"kernels": kernels, "kernel_us": found[nearest], "cache": nearest, "kernel_us_by_cache": found}


def kernels_of_calls(call, before):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for _ in range(7):
            before()
            with torch.profiler.record_function("replayed"):
                call()
        torch.cuda.synchronize()
    return kernels_by_call(profiler.events())


# Calls of the runtime have numbers of their own, which may be those of ops: their kernels are others'.
RUNTIME_CALL = re.compile(r"(cuda|cu|hip)[A-Z]")


def kernels_by_call(events):
    spans = sorted((event.time_range.start, event.time_range.end) for event in events
                   if event.name == "replayed" and "CPU" in str(event.device_type))
    by_call = [{} for _ in spans]
    for event in events:
        for kernel in [] if RUNTIME_CALL.match(event.name) else getattr(event, "kernels", []):
            at = next((i for i, (start, end) in enumerate(spans)
                       if start <= event.time_range.start <= end), None)
            if at is not None:
                by_call[at][kernel.name] = by_call[at].get(kernel.name, 0.0) + kernel.duration
    if not by_call:
        return [], 0.0
    names = {name for kernels in by_call for name in kernels}
    medians = {name: statistics.median(kernels.get(name, 0.0) for kernels in by_call) for name in names}
    return (sorted(medians, key=lambda name: -medians[name]),
            statistics.median(sum(kernels.values()) for kernels in by_call))


# ---------------------------------------------------------------- variants worth trying

def rounded_up(value, step):
    return (value + step - 1) // step * step


# The arguments that are multiplied, and the one that is added.
GEMM_ARGUMENTS = {"mm": ("self", "mat2", None), "addmm": ("mat1", "mat2", "self"),
                  "bmm": ("self", "mat2", None), "baddbmm": ("batch1", "batch2", "self"),
                  "linear": ("input", "weight", "bias"), "matmul": ("self", "other", None)}


def low_types(record):
    """The types worth trying: under autocast, inputs of another type than its own are converted anyway."""
    return [dtype_of(record["autocast"])] if record.get("autocast") else [torch.bfloat16, torch.float16]


def padded_addend(addend, old, new):
    """What is added, for a result of the new (rows, columns); sizes of one stay."""
    shape = list(addend.shape)
    for at in range(1, min(len(shape), 2) + 1):
        if shape[-at] == old[-at]:
            shape[-at] = new[-at]
    return make_tensor(shape, [], addend.dtype, addend.device)


def gemm_variants(record, call, options):
    """Each is the recorded call with other matrices: what is added and how it is scaled stay."""
    base = base_name(record["op"])
    given = call.by_name()
    if base not in GEMM_ARGUMENTS or given.get("out") is not None:
        return
    name_a, name_b, name_c = GEMM_ARGUMENTS[base]
    a, b, c = given.get(name_a), given.get(name_b), given.get(name_c)
    if not all(torch.is_tensor(each) and each.dim() >= 2 for each in (a, b)):  # somebody else's
        return
    turned = base == "linear"  # its weight is stored as the transpose
    if turned:
        b = b.transpose(-1, -2)

    def product(x, y, addend=c):
        changes = {name_a: x, name_b: y.transpose(-1, -2) if turned else y}
        return call.changed(changes if addend is None else {**changes, name_c: addend})

    k, n = b.shape[-2], b.shape[-1]
    batch = list(a.shape[:-2]) if b.dim() > 2 else []  # else all rows are one matrix's
    m = math.prod(a.shape[:-1]) if b.dim() == 2 else a.shape[-2]
    for step in (8, 64, 128, 256):
        rows, depth, columns = (rounded_up(size, step) for size in (m, k, n))
        if (rows, depth, columns) != (m, k, n) and rows * depth * columns <= 1.5 * m * k * n:
            yield f"sizes padded to {step}", product(
                in_shape(a, [*batch, rows, depth]), in_shape(b, [*b.shape[:-2], depth, columns]),
                None if c is None else padded_addend(c, (m, n), (rows, columns)))
    for name, x, y in (("A row-major, B row-major", a.contiguous(), b.contiguous()),
                       ("A row-major, B column-major", a.contiguous(), column_major(b)),
                       ("A column-major, B row-major", column_major(a), b.contiguous())):
        if x.stride() != a.stride() or y.stride() != b.stride():
            yield name, product(x, y)
    for dtype in low_types(record):
        if a.dtype != dtype and a.dtype.is_floating_point:
            yield f"in {str(dtype)[6:]}", product(a.to(dtype), b.to(dtype),
                                                  None if c is None else c.to(dtype))
    if a.dtype == torch.float32 and not record.get("autocast"):
        yield "with TF32", lambda: with_tf32(call)


def in_shape(matrix, shape):
    """Another matrix that lies in memory in the same order."""
    made = make_tensor(shape, [], matrix.dtype, matrix.device)
    return column_major(made) if matrix.stride()[-2] == 1 != matrix.stride()[-1] else made


def column_major(matrix):
    return matrix.transpose(-1, -2).contiguous().transpose(-1, -2)


def with_tf32(work):
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return work()
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def attention_variants(record, call, options):
    if "scaled_dot_product" not in record["op"] or "backward" in record["op"]:
        return
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        return
    given = call.by_name()
    if not all(torch.is_tensor(given.get(name)) for name in ("query", "key", "value")):
        return
    query, keywords, needs_grad = attention_arguments(given)

    def attention(backend):
        # Within the recorded back-end, which the inner choice replaces.
        with sdpa_kernel(backend), torch.set_grad_enabled(needs_grad):
            return torch.nn.functional.scaled_dot_product_attention(query, **keywords)

    for name in ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH"):
        backend = getattr(SDPBackend, name, None)
        if backend is not None:
            yield f"SDPA {name.lower()}", lambda backend=backend: call.inside(lambda: attention(backend))


def attention_arguments(given):
    """(query, the other arguments of SDPA, whether a backward is to follow) of any op of attention."""
    keywords = {"key": given["key"], "value": given["value"], "is_causal": bool(given.get("is_causal")),
                "dropout_p": given.get("dropout_p") or 0.0,
                "attn_mask": first_of(given, "attn_mask", "attn_bias")}
    query, scale = given["query"], given.get("scale")
    if scale is not None:  # PyTorch 2.0 has no such argument
        keywords["scale"] = scale
    # Back-ends share heads without being told.
    if given.get("enable_gqa") or (query.dim() > 3 and query.shape[-3] != given["key"].shape[-3]):
        keywords["enable_gqa"] = True
    needs_grad = bool(given.get("compute_log_sumexp"))  # which is kept for the backward
    if needs_grad:
        query = query.detach()
        query.requires_grad_()
    return query, keywords, needs_grad


def convolution_variants(record, call, options):
    if base_name(record["op"]) not in ("convolution", "conv2d", "cudnn_convolution",
                                       "miopen_convolution", "_convolution"):
        return
    tensors = [each for each in call.positional if torch.is_tensor(each)]
    if len(tensors) < 2 or tensors[0].dim() != 4:
        return

    def with_tensors(change):
        return call.changed({name: change(each) for name, each in call.by_name().items()
                             if torch.is_tensor(each)})

    def last(each):
        return each.contiguous(memory_format=torch.channels_last) if each.dim() == 4 else each

    if not tensors[0].is_contiguous(memory_format=torch.channels_last):
        yield "channels_last", with_tensors(last)
    for dtype in low_types(record):
        if tensors[0].dtype == torch.float32:
            yield f"in {str(dtype)[6:]}", with_tensors(lambda each, dtype=dtype: each.to(dtype))
            yield f"in {str(dtype)[6:]}, channels_last", with_tensors(
                lambda each, dtype=dtype: last(each.to(dtype)))


def compiled_variant(record, call, options):
    if isinstance(call, Call) and hasattr(torch, "compile"):
        compiled = torch.compile(lambda *tensors: call.overload(*tensors, **call.keywords),
                                 mode="max-autotune-no-cudagraphs")
        yield "torch.compile", lambda: call.inside(lambda: compiled(*call.positional))


def tuned(record, call, measured, options):
    """Measured variants of the op, fastest first."""
    found = []
    if not isinstance(call, Call):
        return found
    for variants in (gemm_variants, attention_variants, convolution_variants):
        tried = list(variants(record, call, options))
        for name, work in tried + (list(compiled_variant(record, call, options)) if tried else []):
            try:
                work()
                us = timed(work, options, [])["median_us"]
            except Exception as error:  # a variant that this GPU or this PyTorch does not have
                found.append({"variant": name, "error": first_line(error)})
                continue
            found.append({"variant": name, "median_us": us, "speedup": measured["median_us"] / us})
    return sorted(found, key=lambda each: -each.get("speedup", 0))


# ---------------------------------------------------------------- running

def run_record(record, options):
    def run(result):
        seed(options)
        with torch.no_grad():
            call = make_call(record, options)
            result["overload"] = str(call.overload)
            call_first(call, options)
            synchronize(options)
            result.update(timed(call, options, call.notes))
            if options.device == "cuda" and options.kernels:
                result.update(profiled(call, record, options))
            if options.tune:
                result["variants"] = tuned(record, call, result, options)
        result["notes"] = call.notes

    return outcome(record, run, options.verbose)


def call_first(call, options):
    """The call that shows whether this GPU and this PyTorch have what the recorded ones had."""
    try:
        call()
    except RuntimeError as error:
        if "No available kernel" in str(error) and getattr(call, "around", None):
            call.around.pop()  # the last one: see surroundings
            call.notes.append("its back-end of attention does not take this here: left to PyTorch")
            call()
        elif isinstance(error, NotImplementedError) or "only supports head dimension" in str(error):
            raise Skip(f"not for {options.device} in this PyTorch: {first_line(error)}") from None
        else:
            raise


def take_fresh_memory():
    """Large blocks on the host come from the system each time: those that were used before are faster."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes
        ctypes.CDLL(None).mallopt(-3, 128 * 1024)  # M_MMAP_THRESHOLD
    except (ImportError, OSError, AttributeError):  # another C library
        pass


def seed(options):
    random.seed(options.seed)
    torch.manual_seed(options.seed)


# ---------------------------------------------------------------- sequences

def run_sequence(sequence, options):
    """All ops of a subtree in order: launching and caches as in the workload, not op by op."""
    by_id = {record["id"]: record for record in DATA["records"]}
    calls, left_out = {}, {}
    with torch.no_grad():
        for number in dict.fromkeys(sequence["ids"]):
            try:
                seed(options)
                calls[number] = make_call(by_id[number], options)
                calls[number]()
            except Exception as error:
                left_out[by_id[number]["op"]] = first_line(error)
        synchronize(options)
        ready = [calls[number] for number in sequence["ids"] if number in calls]

        def everything():
            for call in ready:
                call()

        notes = []
        result = timed(everything, options, notes)
    result.update(name=sequence["name"], ops=len(ready), notes=notes, left_out=left_out,
                  recorded_us=sequence.get("kernel_time_us"))
    return result


# ---------------------------------------------------------------- output

def shapes_text(record):
    parts = []
    for text, dims in zip(record["Input type"], record["Input Dims"]):
        if text == "TensorList":
            parts.append(f"[{len(dims)} tensors]")
        elif text in DTYPES:
            parts.append(f"{DTYPES[text]}[{','.join(map(str, dims))}]")
    return " ".join(parts)


def show(record, result):
    print_result(record, result, shapes_text(record))
    ours, theirs = result.get("kernels"), record.get("trace", {}).get("kernels")
    if ours and theirs and ours[0] != theirs[0]:
        say(f"      another kernel: {ours[0][:90]}")
        say(f"      recorded:       {theirs[0][:90]}")
    for variant in result.get("variants", []):
        if "error" in variant:
            say(f"      {variant['variant']}: {variant['error']}")
        else:
            verdict = "pays" if variant["speedup"] > 1.05 else "does not pay"
            say(f"      {variant['variant']}: {variant['median_us']:.2f} us, "
                f"x {variant['speedup']:.2f} ({verdict})")


def list_records(records, options):
    for record in records:
        try:
            if is_backward(record):
                what = f"backward of {resolve(record['forward'], options)[0]}"
            elif record["op"].endswith("::AccumulateGrad"):
                what = "a node of autograd"
            else:
                what = record.get("source") or str(resolve(record, options)[0])
        except Skip as skip:
            what = f"skipped: {skip}"
        say(f"{record['id']:>4}  {record['op']}  {shapes_text(record)}  {record['count']} calls  "
            f"recorded {recorded_us(record):.2f} us  {what}")


def name_and_value(text):
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError("NAME=VALUE is expected")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def parse_arguments():
    parser = argument_parser("Runs recorded operators again, with random inputs.", "cuda")
    parser.add_argument("--int-max", type=int, default=1, metavar="K",
                        help="integer inputs without a known meaning are drawn from [0, K)")
    parser.add_argument("--list-dtype", default="bfloat16", metavar="TYPE",
                        help="type of tensors in lists, which traces do not record")
    parser.add_argument("--import", dest="imports", nargs="+", default=[], metavar="MODULE",
                        help="import first: registers custom operators")
    parser.add_argument("--arg", type=name_and_value, action="append", default=[], metavar="NAME=VALUE",
                        help="an argument that traces do not record (strings)")
    parser.add_argument("--triton-source", metavar="FOLDER", help="where torch.compile left its kernels")
    parser.add_argument("--graph", action="store_true", help="as a device graph: no launch overhead")
    parser.add_argument("--flush-cache", action="store_true", help="nothing left in the L2 cache")
    parser.add_argument("--tune", action="store_true", help="also time variants of GEMMs, attention, "
                                                            "convolutions")
    options = parser.parse_args()
    options.arg = dict(options.arg)
    return options


def run_sequences(options):
    results = []
    for sequence in DATA.get("sequences", []):
        try:
            result = run_sequence(sequence, options)
        except Exception as error:  # the results of single ops are worth keeping
            say(f"{sequence['name']}: failed: {first_line(error)}")
            continue
        results.append(result)
        recorded = result["recorded_us"]
        say(f"{result['name']}: {result['ops']} ops in order: {result['median_us']:.2f} us" +
            (f", recorded kernels {recorded:.2f} us" if recorded else ""))
    return results


def main():
    options = parse_arguments()
    if torch is None:
        say("replay: PyTorch is needed: pip install torch", sys.stderr)
        return 3
    options.device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if options.device == "cuda" and not torch.cuda.is_available():
        say("replay: no GPU here; use --device cpu", sys.stderr)
        return 2
    take_fresh_memory()
    for module in options.imports:
        __import__(module)

    def run(record):
        return run_record(record, options)

    if options.worker:
        return work(DATA["records"], run)
    records = chosen(DATA["records"], options)
    if options.list:
        list_records(records, options)
        return 0
    say(f"seed {options.seed}, device {options.device}, PyTorch {torch.__version__}")
    results = run_all(records, run, show, options, in_child=options.device == "cuda")
    is_whole = len(records) == len(DATA["records"])
    sequences = run_sequences(options) if is_whole else []
    device = torch.cuda.get_device_name(0) if options.device == "cuda" else "cpu"
    about = {"torch": torch.__version__, "device": device, "seed": options.seed}
    return finish(records, results, sequences, about, options)


if __name__ == "__main__":
    sys.exit(main())
