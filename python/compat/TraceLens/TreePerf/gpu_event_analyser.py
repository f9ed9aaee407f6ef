"""How the time of GPUs was spent: computing, communicating, copying, nothing."""

from .._intervals import length, merge_intervals, subtract_intervals
from ..Trace2Tree._kinds import span_ns
from ..util import TraceEventUtils

_MIN_OVERLAP_US = 1.0


class GPUEventAnalyser:
    """The timeline of one trace, all GPUs together. A subclass may sort the events in its own way."""

    all_gpu_key = "all_gpu"
    computation_key = "computation"
    communication_key = "communication"
    memcpy_key = "memcpy"
    all_cpu_key = "all_cpu"
    gpu_event_keys = [all_gpu_key, computation_key, communication_key, memcpy_key]
    cpu_event_keys = [all_cpu_key]

    def __init__(self, events):
        self.events = events

    def get_gpu_event_lists(self, gpu_pid=None, event_filter=None):
        """GPU events by kind. Events get `t_end`, and `overlapping_uids`: those that ran beside them."""
        lists = {key: [] for key in self.gpu_event_keys}
        uids = []
        for position, event in enumerate(self.events):
            category = event.get("cat")
            if category not in _GPU_CATEGORIES:
                continue
            if "t_end" not in event:
                event["t_end"] = event["ts"] + event["dur"]
            lists[self.all_gpu_key].append(event)
            lists[_kind(category, event.get("name") or "")].append(event)
            uids.append(event.get("UID", position))
        _mark_overlaps(lists[self.all_gpu_key], uids, self.events)
        return lists

    @staticmethod
    def verify_dict_gpu_event_lists(dict_gpu_event_lists):
        """ValueError unless the lists can be computed with."""
        expected = GPUEventAnalyser.gpu_event_keys
        if set(dict_gpu_event_lists) != set(expected):
            raise ValueError(f"Expected keys {expected}, got {list(dict_gpu_event_lists)}")
        for key in expected:
            for event in dict_gpu_event_lists[key]:
                if "ts" not in event or "t_end" not in event:
                    raise ValueError(f"an event of the list {key} does not have 'ts' or 't_end': {event}")
        if not dict_gpu_event_lists[GPUEventAnalyser.all_gpu_key]:
            raise ValueError("No GPU events found in the trace")

    @staticmethod
    def merge_intervals(intervals):
        """The union of (start, end) pairs; pairs that touch become one."""
        return merge_intervals(intervals)

    @staticmethod
    def subtract_intervalsA_from_B(intervalsA, intervalsB):
        """What of B is not in A; both by start and without overlaps among themselves."""
        return subtract_intervals(intervalsA, intervalsB)

    @staticmethod
    def compute_metrics_dict(dict_gpu_event_lists, micro_idle_thresh_us=None):
        """The times in microseconds. With a threshold, idle time is split into gaps below it and others."""
        cls = GPUEventAnalyser
        # In whole nanoseconds: doubles of absolute microseconds are too coarse for differences.
        merged = {key: merge_intervals([span_ns(event) for event in dict_gpu_event_lists[key]])
                  for key in cls.gpu_event_keys}
        computation, communication = merged[cls.computation_key], merged[cls.communication_key]
        memcpy, busy = merged[cls.memcpy_key], merged[cls.all_gpu_key]
        start, end = busy[0][0], busy[-1][1]
        busy_time = length(busy)
        metrics = {
            "computation_time": length(computation),
            "exposed_comm_time": length(subtract_intervals(computation, communication)),
            "exposed_memcpy_time": length(subtract_intervals(communication, subtract_intervals(computation, memcpy))),
            "busy_time": busy_time,
        }
        if micro_idle_thresh_us is None:
            metrics["idle_time"] = end - start - busy_time
        else:
            gaps = subtract_intervals(busy, [(start, end)])
            limit = micro_idle_thresh_us * 1000
            metrics["micro_idle_time"] = length(gap for gap in gaps if gap[1] - gap[0] < limit)
            metrics["macro_idle_time"] = length(gap for gap in gaps if gap[1] - gap[0] >= limit)
        metrics["total_time"] = end - start
        metrics["total_comm_time"] = length(communication)
        metrics["total_memcpy_time"] = length(memcpy)
        return {name: _microseconds(time) for name, time in metrics.items()}

    def compute_metrics(self, micro_idle_thresh_us=None):
        lists = self.get_gpu_event_lists()
        GPUEventAnalyser.verify_dict_gpu_event_lists(lists)
        return GPUEventAnalyser.compute_metrics_dict(lists, micro_idle_thresh_us)

    @staticmethod
    def get_breakdown_df_from_dict(dict_metrics):
        """The times as a table: `type`, `time ms`, `percent` of the total."""
        import pandas as pd

        frame = pd.DataFrame({"type": list(dict_metrics), "time ms": [time / 1000.0 for time in dict_metrics.values()]})
        total = frame.loc[frame["type"] == "total_time", "time ms"].iloc[0]
        frame["percent"] = frame["time ms"] / total * 100 if total else float("nan")
        return frame

    def get_breakdown_df(self, micro_idle_thresh_us=None):
        return GPUEventAnalyser.get_breakdown_df_from_dict(self.compute_metrics(micro_idle_thresh_us))


def _microseconds(time_ns):
    """Whole microseconds as an int, as sums of whole numbers are."""
    return time_ns // 1000 if time_ns % 1000 == 0 else time_ns / 1000


class PytorchGPUEventAnalyser(GPUEventAnalyser):
    pass


_GPU_CATEGORIES = frozenset(str(category) for category in TraceEventUtils.GpuEventCategories)


def _kind(category, name):
    """The list a GPU event of PyTorch's belongs to."""
    if category == "gpu_memcpy":
        return GPUEventAnalyser.memcpy_key
    if category == "kernel":
        if TraceEventUtils.is_rocm_legacy_memcpy(name):
            return GPUEventAnalyser.memcpy_key
        if TraceEventUtils.is_rocm_legacy_memset(name):
            return GPUEventAnalyser.computation_key
    if TraceEventUtils.is_communication_string(name):
        return GPUEventAnalyser.communication_key
    return GPUEventAnalyser.computation_key


def _mark_overlaps(gpu_events, uids, events):
    """Gives every event that has none yet the set of those that ran beside it for a microsecond or more.

    Kernels of one stream or of one op do not count as running beside each other.
    """
    points = []
    for event, uid in zip(gpu_events, uids):
        if "overlapping_uids" in event:
            continue
        event["overlapping_uids"] = set()
        if event["t_end"] > event["ts"]:
            points += [(event["ts"], 1, uid, event), (event["t_end"], 0, uid, event)]
    if not points:
        return
    points.sort(key=lambda point: point[:2])  # what ends makes room for what starts
    op_of = _op_finder(events)
    active = {}
    for _, starts, uid, event in points:
        if not starts:
            active.pop(uid, None)
            continue
        for other_uid, other in active.items():
            if _beside(event, other, op_of):
                event["overlapping_uids"].add(other_uid)
                other["overlapping_uids"].add(uid)
        active[uid] = event


def _beside(a, b, op_of):
    if min(a["t_end"], b["t_end"]) - max(a["ts"], b["ts"]) < _MIN_OVERLAP_US:
        return False
    stream = _stream(a)
    if stream is not None and stream == _stream(b):
        return False
    op = op_of(a)
    return op is None or op != op_of(b)


def _stream(event):
    return (event.get("args") or {}).get("stream")


def _op_finder(events):
    """A function that gives the UID of the nearest op above an event, as far as the list holds the way up."""
    by_uid = None

    def op_of(event):
        nonlocal by_uid
        if "parent" not in event:
            return None
        if by_uid is None:
            by_uid = {candidate["UID"]: candidate for candidate in events if "UID" in candidate}
        seen = set()
        above = by_uid.get(event["parent"])
        while above is not None and above["UID"] not in seen:
            if above.get("cat") == "cpu_op":
                return above["UID"]
            seen.add(above["UID"])
            above = by_uid.get(above.get("parent"))
        return None

    return op_of


class JaxGPUEventAnalyser(GPUEventAnalyser):
    """JAX writes all GPUs of a host into one trace, each as a process."""

    def __init__(self, events):
        super().__init__(events)
        self.gpu_pids = list({event["pid"] for event in events if _is_on_gpu(event)})

    def get_gpu_event_lists(self, gpu_pid=None, event_filter=None):
        """pid -> lists of events by kind (other processes: one list `all_cpu`); with a pid, its lists alone."""
        lists = {}
        gpus = set(self.gpu_pids)
        for event in self.events:
            pid = event.get("pid")
            if "ts" not in event or (gpu_pid and pid != gpu_pid) or (event_filter and not event_filter(event)):
                continue
            if "t_end" not in event:
                event["t_end"] = event["ts"] + event.get("dur", 0)
            keys = self.gpu_event_keys if pid in gpus else self.cpu_event_keys
            process = lists.setdefault(pid, {key: [] for key in keys})
            process[keys[0]].append(event)
            if pid in gpus:
                process[_jax_kind(event.get("name") or "")].append(event)
        return lists.get(gpu_pid, {}) if gpu_pid else lists

    def _gpu_lists(self, event_filter):
        """The lists of every GPU that has events."""
        lists = self.get_gpu_event_lists(event_filter=event_filter)
        return {pid: lists[pid] for pid in self.gpu_pids if lists.get(pid, {}).get(self.all_gpu_key)}

    def compute_metrics(self, gpu_pid=1, event_filter=None, micro_idle_thresh_us=None):
        lists = self.get_gpu_event_lists(gpu_pid, event_filter)
        GPUEventAnalyser.verify_dict_gpu_event_lists(lists)
        return GPUEventAnalyser.compute_metrics_dict(lists)

    def get_breakdown_df(self, gpu_pid=None, event_filter=None, micro_idle_thresh_us=None):
        """One block of rows per GPU, with its `gpu_pid`."""
        import pandas as pd

        frames = []
        for pid, lists in self._gpu_lists(event_filter).items():
            if gpu_pid and pid != gpu_pid:
                continue
            frame = GPUEventAnalyser.get_breakdown_df_from_dict(GPUEventAnalyser.compute_metrics_dict(lists))
            frames.append(frame.assign(gpu_pid=pid))
        if not frames:
            raise ValueError("No GPU events found in the trace")
        return pd.concat(frames, ignore_index=True)

    def get_breakdown_df_multigpu(self, event_filter=None):
        """Number of the GPU (by pid, from 0) -> its table."""
        lists = self._gpu_lists(event_filter)
        return {index: GPUEventAnalyser.get_breakdown_df_from_dict(GPUEventAnalyser.compute_metrics_dict(lists[pid]))
                for index, pid in enumerate(sorted(self.gpu_pids)) if pid in lists}

    def get_average_metrics(self, event_filter=None):
        """The mean of every time over the GPUs."""
        return _mean_metrics(self._gpu_lists(event_filter).values())

    def get_average_df(self, gpu_pid=None, event_filter=None):
        if gpu_pid:
            return GPUEventAnalyser.get_breakdown_df_from_dict(self.compute_metrics(gpu_pid, event_filter))
        return GPUEventAnalyser.get_breakdown_df_from_dict(self.get_average_metrics(event_filter))

    def get_average_df_verify_with_jax_analyses(self, event_filter=None):
        """The averages over the processes that JaxAnalyses takes for GPUs."""
        lists = [lists for pid, lists in self._gpu_lists(event_filter).items() if pid <= 100]
        return GPUEventAnalyser.get_breakdown_df_from_dict(_mean_metrics(lists))


def _mean_metrics(lists_of_gpus):
    metrics = [GPUEventAnalyser.compute_metrics_dict(lists) for lists in lists_of_gpus]
    if not metrics:
        raise ValueError("No GPU events found in the trace")
    return {name: sum(gpu[name] for gpu in metrics) / len(metrics) for name in metrics[0]}


def _is_on_gpu(event):
    """By the name of the process, which the tree puts on events; a raw trace says it in metadata."""
    if event.get("ph") == "M":
        return event.get("name") == "process_name" and "/device:GPU" in event["args"]["name"]
    process = event.get("process") or {}
    name = process if isinstance(process, str) else process.get("process_name") or ""
    return "/device:GPU" in name


def _jax_kind(name):
    if name.lower().startswith(("copy", "memcpy", "memset")):
        return GPUEventAnalyser.memcpy_key
    if TraceEventUtils.is_communication_string(name):
        return GPUEventAnalyser.communication_key
    return GPUEventAnalyser.computation_key
