"""All GPU work once: each kernel charged to one op, with a model's figures where there is one."""

import re

import pandas as pd

from ..PerfModel import torch_op_mapping
from ..Trace2Tree._kinds import GPU, PYTHON, busy_us, is_communication
from ._launchers import ARGUMENTS, Names, _shared, details_of, next_uids
from ._metrics import find_model, leave_kernels
from ._overlap import overlap_fields

_NUMBER = re.compile(r"_\d+")
_LEVELS_UP, _LEVELS_DOWN = 5, 10


class Collector:
    """Chooses the ops that stand for the GPU work of a tree."""

    def __init__(self, analyzer, include_nccl=False):
        self.analyzer, self.tree = analyzer, analyzer.tree
        self.include_nccl = include_nccl
        self.found = []
        self._models, self._deep, self._backward = {}, {}, {}
        self._visited = set()

    def collect(self):
        return self.recorded() + self._made_up()

    def recorded(self):
        """The ops of the trace, without made-up ones."""
        tree = self.tree
        if tree.add_python_func:
            for event in tree.events:
                if event.get("cat") == PYTHON and event.get("parent") is None:
                    self._visit(event)
        for uid in list(tree.cpu_root_nodes):
            self._visit(tree.get_UID2event(uid))
        return self.found

    def has_model(self, event):
        uid = event["UID"]
        if uid not in self._models:
            self._models[uid] = find_model(event) is not None
        return self._models[uid]

    # --- the ops ---

    def _visit(self, root):
        pending = [(root, ())]
        while pending:
            event, stack = pending.pop()
            if event["UID"] in self._visited:
                continue
            self._visited.add(event["UID"])
            is_op = event.get("cat") == "cpu_op"
            if not event.get("gpu_events") or not (is_op or self.tree.add_python_func):
                continue
            stack = self._longer(stack, event)
            if self.has_model(event) or (self.is_sole_backward(event) and not self._is_deep(event)):
                self._keep(event, stack)
            elif not self._is_deep(event) and self._is_leaf(event):
                if self.include_nccl or not self._has_communication(event):
                    self._keep(event, stack)
            else:
                below = self.tree.get_children_events(event)
                pending.extend((child, stack) for child in reversed(below))

    def _longer(self, stack, event):
        name = event.get("name", "")
        shown = event.get("cat") == "cpu_op" or any(w in name for w in ("nn.Module", "::", "/"))
        return (*stack, _NUMBER.sub("", name)) if shown else stack

    def _keep(self, event, stack):
        event["_call_stack"] = list(stack)
        self.found.append(event)

    def _has_communication(self, event):
        return any(is_communication(each["name"]) for each in self.tree.get_gpu_events(event))

    def _is_leaf(self, event):
        """Whether its own calls launch work, not only those of ops below."""
        if event.get("cat") != "cpu_op":
            return False
        level = self.tree.get_children_events(event)
        for _ in range(_LEVELS_DOWN):
            below = []
            for child in level:
                if child.get("cat") in GPU:
                    return True
                if child.get("cat") in ("cuda_runtime", PYTHON):
                    below.extend(self.tree.get_children_events(child))
            level = below
        return False

    def _is_deep(self, event):
        """Whether an op with a model and GPU work is below."""
        known = self._deep.get(event["UID"])
        if known is not None:
            return known
        pending, found = self.tree.get_children_events(event), False
        while pending and not found:
            child = pending.pop()
            if child.get("cat") == "cpu_op":
                found = bool(child.get("gpu_events")) and self.has_model(child)
            elif child.get("cat") != PYTHON:
                continue
            pending.extend(self.tree.get_children_events(child))
        self._deep[event["UID"]] = found
        return found

    # --- backward ops, by the model of their forward op ---

    def forward_of(self, event):
        """The forward op that a model knows, when `event` is all there is of its backward pass."""
        uid = event["UID"]
        if uid not in self._backward:
            self._backward[uid] = self._find_forward(event)
        return self._backward[uid]

    def is_sole_backward(self, event):
        return self.forward_of(event) is not None

    def _find_forward(self, event):
        wrapper = self.tree.get_parent_event(event)
        for _ in range(_LEVELS_UP):
            if wrapper is None or wrapper.get("fwd_event"):
                break
            wrapper = self.tree.get_parent_event(wrapper)
        if wrapper is None or not wrapper.get("fwd_event"):
            return None
        forward = self.tree.get_UID2event(wrapper["fwd_event"])
        if not self.has_model(forward) or self._ops_of(wrapper) != 1:
            return None
        model = torch_op_mapping.op_to_perf_model_class_map.get(forward["name"])
        if model is None or torch_op_mapping.get_perf_model_category(model, bwd=True) is None:
            return None
        try:
            self.analyzer.compute_perf_metrics(forward, bwd=True)
        except Exception:  # a model without a backward pass may say so in any way
            return None
        return forward

    def _ops_of(self, wrapper):
        _, separator, wanted = wrapper["name"].partition(": ")
        count, pending = 0, [wrapper]
        while pending:
            for child in self.tree.get_children_events(pending.pop()):
                if child.get("cat") == "cpu_op":
                    pending.append(child)
                    if child.get("gpu_events") and (not separator or child["name"] == wanted):
                        count += 1
        return count

    # --- what no op stands for ---

    def _made_up(self):
        tree, uids = self.tree, next_uids(self.tree)
        covered = {uid for event in self.found for uid in event["gpu_events"]}
        orphans, others = {}, []
        for kernel in tree.events:
            if tree.event_to_category(kernel) not in GPU or kernel["UID"] in covered:
                continue
            if not self.include_nccl and is_communication(kernel["name"]):
                continue
            above = launch = tree.get_parent_event(kernel)
            while above is not None and above.get("cat") != "cpu_op":
                above = tree.get_parent_event(above)
            if above is not None:
                others.append((above, kernel))
            elif launch is not None:
                orphans.setdefault(launch["UID"], []).append((launch, kernel))
        made = [pair for pairs in orphans.values() for pair in pairs] + others
        return [self._synthetic(above, kernel, next(uids)) for above, kernel in made]

    def _synthetic(self, above, kernel, uid):
        event = {**above, "name": f"{above['name']}->{kernel['name']} (Synthetic Op)", "UID": uid}
        event["gpu_events"] = [kernel["UID"]]
        event.pop("_call_stack", None)
        self.tree.made_up_events[uid] = event
        return event


def leave_unified(analyzer, include_metrics, include_nccl):
    """What the dictionaries of ops have after a table of them was made elsewhere."""
    collector = Collector(analyzer, include_nccl)
    for event in collector.recorded():
        if not include_metrics:
            continue
        if collector.has_model(event):
            leave_kernels(analyzer, event)
        elif collector.is_sole_backward(event):
            leave_kernels(analyzer, collector.forward_of(event), bwd=True)


def unified_rows(analyzer, events, collector, include_args, include_perf_metrics, include_kernel_details):
    tree, names, tuples = analyzer.tree, Names(analyzer.tree.metadata), {}
    rows = []
    for event in events:
        own = collector.has_model(event)
        forward = None if own else collector.forward_of(event)
        kernels = tree.get_gpu_events(event)
        try:
            metrics = _metrics(analyzer, event, forward, own) if include_perf_metrics else {}
        except NotImplementedError:
            continue
        args = event.get("args") or {}
        row = {"name": event["name"], "op category": _category(analyzer, event, forward),
               "UID": event["UID"], "pid": event.get("pid"), "tid": event.get("tid")}  # fmt: skip
        row["process_name"], row["process_label"], row["thread_name"] = names.of(event)
        row["External id"] = args.get("External id")
        _add_overlap(tree, event, kernels, row)
        if include_args:
            for column in ARGUMENTS:
                row[column] = _shared(tuples, args.get(column))
        row["duration_us"] = event.get("dur")
        row["has_perf_model"] = own or forward is not None
        if analyzer.detect_recompute:
            row["is_recompute"] = bool(event.get("is_recompute", False))
        if include_perf_metrics:
            row.update(metrics or {"Kernel Time (µs)": busy_us(kernels)})
            row["perf_params"] = _params(row)
        if include_kernel_details:
            row["kernel_details"] = _kernels(tree, event, kernels)
        rows.append(row)
    return _in_column_order(rows)


def _metrics(analyzer, event, forward, own):
    if not own and forward is None:
        return None
    try:
        if own:
            return analyzer.compute_perf_metrics(event)
        return analyzer.compute_perf_metrics(forward, bwd=True)
    except NotImplementedError:
        raise
    except Exception:  # the op stays, without figures
        return None


def _category(analyzer, event, forward):
    if forward is not None:
        model = torch_op_mapping.op_to_perf_model_class_map[forward["name"]]
        return torch_op_mapping.get_perf_model_category(model, bwd=True)
    return analyzer.op_categorizer(event)


def _add_overlap(tree, event, kernels, row):
    keys = ("overlapping_kernel_names", "overlapping_kernels_details", "overlap_pct")
    if event.get(keys[0]) is None:
        row.update(zip(keys, overlap_fields(tree, kernels)))
    else:
        row.update((key, event.get(key)) for key in keys)


def _params(row):
    """Takes the `param:` cells out of the row, as one dict."""
    keys = [key for key in row if key.startswith("param: ")]
    return {key[len("param: "):]: row.pop(key) for key in keys} or None


def _kernels(tree, event, kernels):
    details = details_of(kernels, with_uid=True, by_start=False)
    stack = event.get("_call_stack")
    if tree.add_python_func and stack is not None:
        for detail, kernel in zip(details, kernels):
            detail["call_stack"] = [*stack, *_between(tree, event, kernel)]
    return details


def _between(tree, event, kernel):
    names = []
    above = tree.get_parent_event(kernel)
    while above is not None and above["UID"] != event["UID"]:
        name = above.get("name", "")
        if above.get("cat") == "cpu_op" or any(w in name for w in ("nn.Module", "::", "/")):
            names.append(_NUMBER.sub("", name))
        above = tree.get_parent_event(above)
    return reversed(names)


def _in_column_order(rows):
    """All columns of all rows: rows without a model have fewer, and may come first."""
    frame = pd.DataFrame(rows)
    if "Kernel Time (µs)" not in frame.columns or "GFLOPS" not in frame.columns:
        return frame
    metrics = ["GFLOPS", "Kernel Time (µs)", "TFLOPS/s", "Data Moved (MB)", "FLOPS/Byte", "TB/s",
               "Compute Spec", "Roofline Time (µs)", "Roofline Bound", "Pct Roofline",
               "Origami Time (µs)", "Origami TFLOPS/s", "Origami TB/s", "Pct Origami"]  # fmt: skip
    behind = ["perf_params", "kernel_details"]
    head = [c for c in frame.columns if c not in metrics and c not in behind]
    return frame[head + [c for c in [*metrics, *behind] if c in frame.columns]]
