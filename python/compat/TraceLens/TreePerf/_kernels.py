"""One row per kernel: what it is, who launched it, the op and the module it belongs to."""

import pandas as pd

from ..Trace2Tree._kinds import busy_us, is_module
from ._launchers import as_tuple


def kernel_row(analyzer, kernel, launcher_detail=False, cpu_op_detail=True, nn_module_detail=False):
    """None for an event that is no kernel."""
    tree = analyzer.tree
    if tree.event_to_category(kernel) != "kernel":
        return None
    row = {
        "UID": kernel["UID"],
        "Kernel name": kernel["name"],
        "Kernel t start": kernel["ts"],
        "Kernel duration (µs)": kernel["dur"],
        "Kernel stream": (kernel.get("args") or {}).get("stream"),
    }
    launch = tree.get_parent_event(kernel)
    if launcher_detail and launch is not None:
        args = launch.get("args") or {}
        row["Launcher UID"], row["Launcher"] = launch["UID"], launch["name"]
        row["Grid"], row["Block"] = args.get("grid"), args.get("block")
    if cpu_op_detail:
        op = _above(tree, kernel, lambda event: tree.event_to_category(event) == "cpu_op")
        if op is not None:
            _add_op(analyzer, row, kernel, op)
    if nn_module_detail:
        module = _above(tree, kernel, is_module)
        if module is not None:
            _add_module(tree, row, kernel, module)
    return row


def _above(tree, event, is_wanted):
    above = tree.get_parent_event(event)
    while above is not None and not is_wanted(above):
        above = tree.get_parent_event(above)
    return above


def _measure(tree, event):
    """Leaves the figures on the event: many kernels ask for them."""
    if "gpu_busy_time" not in event:
        kernels = tree.get_gpu_events(event)
        event["kernel_count"] = len(kernels)
        event["gpu_busy_time"] = busy_us(kernels)
    return event["gpu_busy_time"], event["kernel_count"]


def _percent(kernel, busy, count):
    return 100.0 if count == 1 else kernel["dur"] / busy * 100 if busy else float("nan")


def _add_op(analyzer, row, kernel, op):
    args = op.get("args") or {}
    busy, count = _measure(analyzer.tree, op)
    row["Parent cpu_op UID"], row["Parent cpu_op"] = op["UID"], op["name"]
    row["Input dims"] = as_tuple(args.get("Input Dims"))
    row["Input types"] = as_tuple(args.get("Input type"))
    row["Input strides"] = as_tuple(args.get("Input Strides"))
    row["Concrete Inputs"] = as_tuple(args.get("Concrete Inputs"))
    row["kernel_file"] = args.get("kernel_file")
    row["Parent cpu_op busy time (µs)"] = busy
    row["Parent cpu_op kernel count"] = count
    row["Percent of Parent cpu_op busy time (%)"] = _percent(kernel, busy, count)
    row["Parent op category"] = analyzer.op_categorizer(op)


def _add_module(tree, row, kernel, module):
    busy, count = _measure(tree, module)
    row["Parent nn.Module UID"], row["Parent nn.Module"] = module["UID"], module["name"]
    row["Parent nn.Module kernel count"] = count
    row["Parent nn.Module GPU busy time (µs)"] = busy
    row["Percent of Parent nn.Module busy time (%)"] = _percent(kernel, busy, count)


def kernel_frame(rows):
    frame = pd.DataFrame(rows)
    for column in frame.columns:
        if "UID" in column or "count" in column:
            frame[column] = frame[column].astype("Int64")
    return frame
