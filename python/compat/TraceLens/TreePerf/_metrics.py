"""What an op did and how fast, by its performance model."""

import inspect
import warnings
from collections.abc import Mapping
from functools import lru_cache

import pandas as pd

from ..PerfModel import torch_op_mapping
from ..Trace2Tree._kinds import busy_us
from ._launchers import ARGUMENTS, Names, details_of

NAN = float("nan")


@lru_cache(maxsize=1024)
def _optional_arguments(model_class):
    try:
        wanted = inspect.signature(model_class.__init__).parameters
    except (TypeError, ValueError):
        return ()
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in wanted.values())
    return tuple(name for name in ("enable_origami", "inductor_cache_dir")
                 if takes_any or name in wanted)  # fmt: skip


def make_model(analyzer, model_class, event):
    more = {name: getattr(analyzer, name) for name in _optional_arguments(model_class)}
    return model_class(event=event, arch=analyzer.arch, python_path=analyzer.python_path, **more)


def find_model(event):
    """The class for an event, None when there is none or it cannot tell this one's work."""
    model_class = torch_op_mapping.resolve_perf_model_class(event["name"])
    if model_class is None:
        return None
    can_model = getattr(model_class, "can_model", None)
    return model_class if can_model is None or can_model(event) else None


def _ratio(value, by):
    return value / by if by else NAN


def measured_kernels(analyzer, event, bwd):
    if not bwd:
        return analyzer.agg_kernels_in_subtree(event)[1]
    tree = analyzer.tree
    wrappers = [tree.get_UID2event(uid) for uid in tree.get_subtree_bwd_events(event["UID"])]
    return analyzer.loop_and_aggregate_kernels(wrappers)[1]


def leave_kernels(analyzer, event, bwd=False):
    """The kernels that a model's figures are about; models find them on the event."""
    kernels = [analyzer.tree.get_UID2event(uid) for uid in measured_kernels(analyzer, event, bwd)]
    event["kernel_details"] = details_of(kernels, with_uid=True)
    return kernels


def metrics_of(analyzer, event, bwd=False, non_data_mov=False, model_class=None):
    kernels = leave_kernels(analyzer, event, bwd)
    if model_class is None:
        model_class = torch_op_mapping.resolve_perf_model_class(event["name"])
        if model_class is None:
            raise TypeError("'NoneType' object is not callable")
    model = make_model(analyzer, model_class, event)
    flops = model.flops_bwd() if bwd else model.flops()
    moved = model.bytes_bwd() if bwd else model.bytes()
    time = busy_us(kernels)
    found = _rates(flops, moved, time)
    if non_data_mov:
        of_compute = busy_us([each for each in kernels if analyzer.non_data_mov_filter(each)])
        more = {
            "Non-Data-Mov Kernel Time (µs)": of_compute,
            "Non-Data-Mov TFLOPS/s": _ratio(flops / 1e12, of_compute / 1e6),
        }
        head = list(found.items())
        found = {**dict(head[:3]), **more, **dict(head[3:])}
    found["Compute Spec"] = compute_spec(model)
    if analyzer.arch:
        found.update(_roofline(analyzer.arch, found, moved, time))
    found.update(_simulated(model, found, moved, time, bwd))
    for key, value in model.param_details.items():
        found[f"param: {key}"] = value
    return found


def _rates(flops, moved, time):
    gflops = flops / 1e9
    known = moved is not None
    return {
        "GFLOPS": gflops,
        "Kernel Time (µs)": time,
        "TFLOPS/s": _ratio(gflops / 1e3, time / 1e6),
        "Data Moved (MB)": moved / (1024 * 1024) if known else NAN,
        "FLOPS/Byte": _ratio(gflops * 1e9, moved) if known else NAN,
        "TB/s": _ratio(moved / 1e12, time / 1e6) if known else NAN,
    }


def compute_spec(model):
    unit = getattr(model, "get_maf_type", lambda: None)()
    precision = getattr(model, "get_compute_precision", lambda: None)()
    return f"{unit}_{precision}" if unit and precision else ""


def _roofline(arch, found, moved, time):
    peak = (arch.get("max_achievable_tflops") or {}).get(found["Compute Spec"])
    bandwidth = arch.get("mem_bw_gbps")
    gflops = found["GFLOPS"]
    if not peak or not bandwidth or moved is None or not gflops > 0:
        return {}
    compute = gflops * 1e9 / (peak * 1e12) * 1e6
    memory = moved / (bandwidth * 1e9) * 1e6
    longest = max(compute, memory)
    return {
        "Roofline Time (µs)": longest,
        "Roofline Bound": "COMPUTE_BOUND" if compute >= memory else "MEMORY_BOUND",
        "Pct Roofline": _ratio(longest, time) * 100,
    }


def _simulated(model, found, moved, time, bwd):
    name = "get_simulation_time_bwd" if bwd else "get_simulation_time"
    simulated = getattr(model, name, lambda: None)()
    if not simulated:
        return {}
    return {
        "Origami Time (µs)": simulated,
        "Origami TFLOPS/s": found["GFLOPS"] / 1e3 / (simulated / 1e6),
        "Origami TB/s": NAN if moved is None else moved / 1e12 / (simulated / 1e6),
        "Pct Origami": _ratio(simulated, time) * 100,
    }


def metric_rows(
    analyzer,
    events,
    bwd=False,
    non_data_mov=False,
    include_kernel_details=False,
    include_args=False,
    models=None,
    args_cols=None,
):
    """One row per event that has an answer; what is left out is told in warnings."""
    if not events:
        warnings.warn("Input list of events is empty. Returning an empty DataFrame.", UserWarning)
        return pd.DataFrame()
    names = Names(analyzer.tree.metadata)
    rows, failed, without_backward, without_kernels = [], [], [], []
    for event in events:
        if bwd and not event.get("bwd_events"):
            without_backward.append(event)
            continue
        model_class = models.get(event["name"]) if models is not None else None
        try:
            found = analyzer.compute_perf_metrics(
                event, bwd=bwd, non_data_mov=non_data_mov, perf_model_class=model_class)  # fmt: skip
        except NotImplementedError:
            continue
        except Exception as error:  # a model may fail in any way: the others have their rows
            failed.append((event, error))
            continue
        if found["GFLOPS"] > 0 and found["Kernel Time (µs)"] == 0:
            without_kernels.append(event)
        rows.append(_row(analyzer, event, found, names, include_kernel_details, include_args,
                         args_cols))  # fmt: skip
    _warn(len(events), failed, without_backward, without_kernels)
    return pd.DataFrame(rows)


def _row(analyzer, event, found, names, include_kernel_details, include_args, args_cols):
    args = event.get("args") or {}
    row = {key: event.get(key) for key in ("cat", "name", "UID", "pid", "tid")}
    row["process_name"], row["process_label"], row["thread_name"] = names.of(event)
    row["external_id"] = args.get("External id")
    for key in ("overlapping_kernel_names", "overlapping_kernels_details", "overlap_pct"):
        row[key] = event.get(key)
    if include_args:
        for column in ARGUMENTS if args_cols is None else args_cols:
            row[column] = args.get(column)
    row.update(found)
    if include_kernel_details:
        row["kernel_details"] = event["kernel_details"]
        row["num_kernels"] = len(event["kernel_details"])
    if analyzer.detect_recompute:
        row["is_recompute"] = bool(event.get("is_recompute", False))
    return row


def _warn(total, failed, without_backward, without_kernels):
    if failed:
        event, error = failed[0]
        _tell(f"Found {len(failed)}/{total} events with failed performance metric computation.")
        _tell(f"Example of failed event: {shown(event)}\nError: {type(error).__name__}: {error}")
    if without_backward:
        _tell(f"Found {len(without_backward)}/{total} events without backward events.")
        _tell(f"Example of event without backward events: {shown(without_backward[0])}")
    if without_kernels:
        _tell(f"Found {len(without_kernels)}/{total} events with non-zero GFLOPS but without kernels.")
        _tell(f"Example of event without kernels: {shown(without_kernels[0])}")


def _tell(text):
    warnings.warn(text, UserWarning, stacklevel=4)


def shown(event):
    return {key: value for key, value in event.items() if not isinstance(value, Mapping)}
