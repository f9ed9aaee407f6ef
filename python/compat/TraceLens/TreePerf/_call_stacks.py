"""Where in the user's program the calls of a row came from."""

import ast
import os

import numpy as np

NOT_FOUND = "Not found"
_WRAPPER_STARTS = ("<built-in", "pybind11_builtins", "nn.Module:")
_WRAPPER_FILES = (
    "torch/_ops.py", "torch/nn/modules/module.py", "torch/utils/_contextlib.py",
    "torch/utils/_device.py", "torch/_tensor.py", "torch/functional.py", "torch/overrides.py",
    "torch/_inductor/", "torch/_functorch/", "torch/distributed/c10d_logger.py",
    "triton/backends/",
)  # fmt: skip
_WRAPPER_FUNCTIONS = frozenset((
    "__torch_function__", "_call_impl", "_wrapped_call_impl", "decorate_context",
    "dispatch_wrapper", "handle_torch_function", "wrapper", "custom_wrapper", "wrapper_custom",
    "outer_wrapper",
))  # fmt: skip


def _function_of(frame):
    return frame.rsplit("): ", 1)[-1]


def is_wrapper(frame):
    return (
        frame.startswith(_WRAPPER_STARTS)
        or any(file in frame for file in _WRAPPER_FILES)
        or _function_of(frame) in _WRAPPER_FUNCTIONS
    )


def full_stack(stats):
    """What all kernels share of their way down, then each way that is left as a list of its own."""
    chains = [[*(each.get("call_stack") or []), each["name"]] for each in stats]
    if not chains:
        return NOT_FOUND
    if len(chains) == 1:
        return str(chains[0])
    shared = os.path.commonprefix(chains)
    tails = []
    for chain in chains:
        tail = chain[len(shared):]
        if tail and tail not in tails:
            tails.append(tail)
    return str([*shared, *tails])


def _flat(stack):
    for each in stack:
        if isinstance(each, list):
            yield from _flat(each)
        else:
            yield each


def entry_point(name, stack):
    """The frame of the user's own code that called the op, as far as it can be told."""
    if stack == NOT_FOUND:
        return NOT_FOUND
    frames = list(_flat(ast.literal_eval(stack)))
    at = _last(frames, name)
    if at is None:
        head, _, digits = name.rpartition("_")
        at = _last(frames, head) if digits.isdigit() else None
    if at is None:
        return NOT_FOUND
    local = name.rsplit("::", 1)[-1].lower()
    for frame in frames[at + 1 :]:
        if ".py" in frame and local in _function_of(frame).lower():
            return frame
    for frame in reversed(frames[:at]):
        if ".py" in frame and not is_wrapper(frame):
            return frame
    return NOT_FOUND


def _last(frames, name):
    for at in range(len(frames) - 1, -1, -1):
        if frames[at] == name:
            return at
    return None


def add_call_stack_columns(made):
    """Columns entry_point and call_stack_full, from the kernels of each row."""
    stacks = [full_stack(stats) for stats in made["kernel_details_summary"]]
    entries = [entry_point(name, stack) for name, stack in zip(made["name"], stacks)]
    made["entry_point"] = np.array(entries, dtype=object)
    made["call_stack_full"] = np.array(stacks, dtype=object)
    shown = np.empty(len(stacks), dtype=object)
    for row, stats in enumerate(made["kernel_details_summary"]):
        shown[row] = [{k: v for k, v in each.items() if k != "call_stack"} for each in stats]
    made["kernel_details_summary"] = shown
