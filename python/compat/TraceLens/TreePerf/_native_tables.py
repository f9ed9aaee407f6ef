"""Tables made by the native core, where nothing of the program's own takes part in them."""

import json

import numpy as np
import pandas as pd

from ..PerfModel.torch_op_mapping import categorize_torch_op
from ..Trace2Tree._kinds import category_of
from ._builtin import has_own_categories, has_own_models
from ._launchers import gpu_events
from ._overlap import mark_partners
from ._unified import leave_unified


def _overridden(analyzer, *methods):
    """Whether a subclass or the object itself has other methods of these names."""
    from .tree_perf import TreePerfAnalyzer

    return any(
        name in analyzer.__dict__ or getattr(type(analyzer), name) is not getattr(TreePerfAnalyzer, name)
        for name in methods
    )


class NativeTables:
    """Those of one analyzer. A method gives None where the table must be made in Python."""

    def __init__(self, analyzer):
        self._analyzer = analyzer
        self._cached = (None, None)  # of what, and its rows
        self._beside = {}  # of launchers: what ran at the same time, by UID

    def __getstate__(self):
        """Of copies and pickles: rows of the core are made again."""
        return {**self.__dict__, "_cached": (None, None)}

    def _trace(self):
        analyzer = self._analyzer
        if analyzer.event_to_category is not category_of or analyzer.tree.event_to_category is not category_of:
            return None
        # The core makes trees of its own: of links, marks and ends that were changed the events tell.
        # Marks of recomputed work are the events' own from the start.
        if analyzer.tree.is_edited() or analyzer.detect_recompute:
            return None
        return analyzer.tree.native_trace()

    def _rows(self, trace, communication=False):
        from tracelens import _native

        analyzer = self._analyzer
        arch = json.dumps({"name": "GPU", **analyzer.arch}) if analyzer.arch else None
        key = (trace, communication, analyzer.include_unlinked_kernels, analyzer.detect_recompute, arch)
        if self._cached[0] != key:
            tree = trace.tree(python_frames=analyzer.tree.add_python_func)
            self._cached = (key, _native.Rows(
                tree, communication=communication, recompute=analyzer.detect_recompute, gpu=arch,
                include_unlinked=analyzer.include_unlinked_kernels))  # fmt: skip
        return self._cached[1]

    def _frame(self, table, nullable=False):
        from tracelens._frames import frame

        made = frame(table, none_is_object=True, nullable=nullable)
        made.attrs = {}
        uids = self._analyzer.tree._source.uids()
        if uids is not None and len(made):
            uids = np.asarray(uids)
            for column in made.columns:
                if column.endswith("UID"):
                    known = made[column].notna().to_numpy()
                    rows = made.loc[known, column].to_numpy(dtype=np.int64)
                    inside = rows < len(uids)
                    cells = made[column].array.copy()
                    cells[np.flatnonzero(known)[inside]] = uids[rows[inside]]
                    made[column] = cells
        return made

    # --- the tables ---

    def timeline(self, micro_idle_us):
        from .gpu_event_analyser import GPUEventAnalyser

        analyzer = self._analyzer
        if analyzer.GPUEventAnalyser is not GPUEventAnalyser or analyzer.detect_recompute:
            return None
        trace = self._trace()
        if trace is None or (micro_idle_us is not None and micro_idle_us != int(micro_idle_us)):
            return None
        from tracelens._frames import frame

        made = frame(self._rows(trace).timeline(
            micro_idle_us=None if micro_idle_us is None else int(micro_idle_us)))  # fmt: skip
        if not made["time ms"].any():
            return None  # perhaps there is nothing on the GPU: the events tell
        made.attrs = {}
        analyzer.tree.leave_on_events(lambda: mark_partners(gpu_events(analyzer)))
        return made

    def launchers(self, ids, kernels, modules, start, args_cols):
        analyzer = self._analyzer
        if args_cols is not None or _overridden(analyzer, "get_kernel_launchers", "compute_overlapping_kernels"):
            return None
        if analyzer.op_categorizer is not categorize_torch_op:
            return None
        trace = self._trace()
        if trace is None:
            return None
        rows, own = self._rows(trace), has_own_categories()

        def frame_of(kernels, **columns):
            made = self._frame(rows.launchers(kernels=kernels or own, **columns))
            if own and len(made):
                made["op category"] = _categories(made)
                made = made if kernels else made.drop(columns=["kernel_details", "num_kernels"])
            return made

        made = frame_of(kernels, ids=ids, start=start, modules=kernels and modules)
        if not len(made):
            return pd.DataFrame()
        known = made.loc[made["overlapping_kernel_names"].notna(), ["UID", *_OVERLAP]]
        self._beside = {uid: cells for uid, *cells in known.itertuples(index=False, name=None)}
        analyzer.tree.leave_on_events(
            lambda: _leave_launchers(analyzer, made if kernels else frame_of(True)))  # fmt: skip
        return made

    def kernels(self, launch, op, module):
        analyzer = self._analyzer
        if _overridden(analyzer, "get_kernel_details") or analyzer.op_categorizer is not categorize_torch_op:
            return None
        trace = self._trace()
        if trace is None or has_own_categories():
            return None
        table = self._rows(trace).kernels(launch=launch, op=op, module=module)
        made = self._frame(table, nullable=lambda column: "UID" in column or "count" in column)
        for column in ("Grid", "Block") if launch else ():
            if column in made.columns:  # as they stand among the arguments of the launch
                made[column] = [list(cell) if isinstance(cell, tuple) else cell for cell in made[column]]
        above = [kind for kind, wanted in (("cpu_op", op), ("nn.Module", module)) if wanted]
        analyzer.tree.leave_on_events(lambda: _leave_busy_times(analyzer.tree, made, above))
        return made

    def unified(self, arguments, metrics, kernels, communication):
        analyzer = self._analyzer
        if _overridden(analyzer, "compute_perf_metrics", "collect_unified_perf_events"):
            return None
        if analyzer.op_categorizer is not categorize_torch_op or has_own_models():
            return None
        if metrics and analyzer.tree.has_annotations:
            return None
        trace = self._trace()
        if trace is None:
            return None
        table = self._rows(trace, communication).unified(
            arguments=arguments, metrics=metrics, kernels=kernels,
            call_stacks=analyzer.tree.add_python_func and kernels, callers=True)  # fmt: skip
        made = self._frame(table)
        if "event" in made.columns:
            callers = made.pop("event")
            self._take_overlap(made, callers)
            _remember_made_up(analyzer.tree, made, callers)
        empty = [column for column in made.columns if "Roofline" in column and made[column].isna().all()]
        made = made.drop(columns=empty) if empty else made
        analyzer.tree.leave_on_events(lambda: leave_unified(analyzer, metrics, communication))
        return made


    def note_launchers(self, launchers):
        """What ran beside them, when they were found by their events."""
        self._beside = {
            event["UID"]: [event[key] for key in _OVERLAP]
            for event in launchers if event["overlapping_kernel_names"] is not None
        }  # fmt: skip

    def _take_overlap(self, made, callers):
        """An op that was a launcher has said what ran beside it, also for what was made up of it."""
        rows = [(row, self._beside[uid]) for row, uid in enumerate(callers.tolist()) if uid in self._beside]
        for place, column in enumerate(_OVERLAP) if rows and _OVERLAP[0] in made.columns else ():
            cells = made[column].to_numpy(dtype=object, copy=True)
            for row, beside in rows:
                cells[row] = beside[place]
            made[column] = cells if place < 2 else cells.astype(float)


def _categories(made):
    known = {}
    cells = []
    for name, kernels in zip(made["name"], made["kernel_details"]):
        key = (name, kernels[0]["name"] if kernels else None)
        if key not in known:
            known[key] = categorize_torch_op({"name": name, "kernel_details": kernels})
        cells.append(known[key])
    return cells


_LEFT = ("total_direct_kernel_time", "total_subtree_kernel_time", "direct_kernel_count",
         "kernel_details", "op category", "overlapping_kernel_names", "overlapping_kernels_details",
         "overlap_pct")  # fmt: skip


_OVERLAP = ("overlapping_kernel_names", "overlapping_kernels_details", "overlap_pct")


def _leave_launchers(analyzer, made):
    """What the dictionaries of launchers have after their table was made."""
    tree = analyzer.tree
    mark_partners(gpu_events(analyzer))
    columns = [made[column].tolist() for column in _LEFT]
    for uid, *cells in zip(made["UID"].tolist(), *columns):
        event = tree.get_UID2event(uid)
        for key, cell in zip(_LEFT, cells):
            event[key] = None if cell is None or cell != cell else cell


def _leave_busy_times(tree, made, above):
    """What ops and modules have after the table of their kernels was made."""
    for kind in above:
        busy = "GPU busy" if kind == "nn.Module" else "busy"
        columns = (f"Parent {kind} UID", f"Parent {kind} {busy} time (µs)", f"Parent {kind} kernel count")
        if not set(columns) <= set(made.columns):
            continue
        rows = made.loc[:, list(columns)].dropna().drop_duplicates(columns[0])
        # Plain numbers, which json takes: the cells of an Int64 column are NumPy's.
        cells = (rows[column].to_numpy(dtype=kind).tolist() for column, kind in zip(columns, (int, float, int)))
        for uid, busy, count in zip(*cells):
            event = tree.get_UID2event(uid)
            if "gpu_busy_time" not in event:  # as where it is measured: what is there counts
                event["gpu_busy_time"], event["kernel_count"] = busy, count


def _remember_made_up(tree, made, callers):
    """Synthetic ops have UIDs that no event has; get_UID2event() finds them all the same."""
    synthetic = np.flatnonzero((callers != made["UID"]).to_numpy() & callers.notna().to_numpy())
    for row in synthetic.tolist():
        uid = made["UID"].iat[row].item()
        details = made["kernel_details"].iat[row] if "kernel_details" in made.columns else []
        tree.made_up_events[uid] = _MadeUp(
            tree, int(callers.iat[row]), uid, made["name"].iat[row], details)  # fmt: skip


class _MadeUp:
    """A synthetic op that nobody has asked for yet."""

    def __init__(self, tree, caller, uid, name, kernels):
        self._made = lambda: {
            **tree.get_UID2event(caller), "UID": uid, "name": name,
            "gpu_events": [kernel["gpu_op_uid"] for kernel in kernels],
        }  # fmt: skip

    def make(self):
        return self._made()
