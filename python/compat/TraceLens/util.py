"""Reading traces into dictionaries, and small functions on lists of trace events."""

import gzip
import json
import os
import re
from collections import defaultdict
from enum import StrEnum

from ._errors import reading
from ._hlo_text import JaxProfileProcessor, glob, suppress_native_hlo_logs
from ._intervals import merge_intervals
from ._rocm_traces import PftraceParser, RocprofParser
from ._xplane import load_xplane


class DataLoader:
    @staticmethod
    def load_data(filename_path, save_preprocessed=False, *, sentence=None):
        """The whole document of a trace, as dicts and lists. `sentence`: what to say of a document that is none."""
        path = os.fspath(filename_path)
        if path.endswith((".json", ".json.gz")):
            with reading(path, sentence):
                with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
                    text = file.read().decode("utf-8", errors="replace")
                document = json.loads(text)
        elif path.endswith((".pb", ".pb.gz")):
            document = _from_xplane(path)
        else:
            raise ValueError("Unknown file type", path)
        if save_preprocessed:
            with open(re.sub(r"(\.gz|\.pb)$", lambda end: ".processed.json" if end[0] == ".pb" else "", path), "w",
                      encoding="utf-8") as file:
                json.dump(document, file)
        return document


def _from_xplane(path):
    """The trace viewer's document of a JAX profile: by JAX users' converter where it is installed, else by ours."""
    try:
        from xprof.convert import raw_to_tool_data
    except ImportError:
        return load_xplane(path)
    with suppress_native_hlo_logs():
        data, _ = raw_to_tool_data.xspace_to_tool_data([path], "trace_viewer@",
                                                       {"trace_viewer_options": {"resolution": "0"}})
    if data is None:
        raise RuntimeError(f"the conversion of {path} returned None")
    document = json.loads(data)
    if "traceEvents" in document:
        events = [event for event in document["traceEvents"] if event]
        for event in events:
            if event.get("ph") == "i":  # a mark becomes the shortest of slices
                event.update(ph="X", dur=1e-6)
        document["traceEvents"] = events
    return document


class TraceEventUtils:
    """Functions on events of the Trace Event Format. The members of the enums equal the texts they stand for."""

    class TraceKeys(StrEnum):
        PID = "pid"
        TID = "tid"
        Phase = "ph"
        Args = "args"
        Name = "name"
        TimeStamp = "ts"
        Duration = "dur"
        Category = "cat"
        TimeEnd = "t_end"
        UID = "UID"

    class TracePhases(StrEnum):
        DurationBegin = "B"
        DurationEnd = "E"
        Complete = "X"
        Counter = "C"
        Sample = "P"
        Metadata = "M"

    class MetadataFields(StrEnum):
        ProcessName = "process_name"
        ProcessLabels = "process_labels"
        ProcessSort = "process_sort_index"
        ThreadName = "thread_name"
        ThreadSort = "thread_sort_index"

    class ArgNames(StrEnum):
        Name = "name"
        SortIndex = "sort_index"
        StreamIndex = "stream_index"
        Labels = "labels"

    class GpuEventCategories(StrEnum):
        Kernel = "kernel"
        MemSet = "gpu_memset"
        MemCpy = "gpu_memcpy"

    class CpuEventCategories(StrEnum):
        Kernel = "cpu_op"
        Runtime = "cuda_runtime"
        Driver = "cuda_driver"

    class JaxSpecialThreads(StrEnum):
        FrameworkCallStack = "Framework Name Scope"
        FrameworkOps = "Framework Ops"
        XlaModules = "XLA Modules"
        XlaOps = "XLA Ops"
        pyXla = "py_xla"
        SourceCode = "Source Code"
        Steps = "Steps"
        StreamPrefix = "Stream #"

    class JaxKernelEventArgs(StrEnum):
        hlo_module = "hlo_module"
        hlo_op = "hlo_op"
        name = "name"
        correlation_id = "correlation_id"
        group_id = "group_id"

    class JaxOpKeys:
        """Parts of kernel names that tell a category, asked in this order."""

        GemmKeys = ["Cijk", "gemm", "nvjet", "cublasLt"]
        FABwdKeys = ["FmhaBwd", "flash_bprop", "ck_fused_attn::dk_dv_reduce_thd", "fmha_bwd"]
        FAFwdKeys = ["FmhaFwd", "flash_fprop", "fmha_fwd"]
        FAV3Keys = ["kernel_func"]
        ConvKeys = ["conv_", "conv.", "conv-"]
        TEKeys = ["transformer_engine", "te_fused_attn"]
        CommunicationKeys = ["rccl", "nccl"]
        ClassCategories = {
            "GEMM": GemmKeys,
            "FA BWD": FABwdKeys,
            "FA FWD": FAFwdKeys,
            "FA V3": FAV3Keys,
            "Conv": ConvKeys,
            "TE": TEKeys,
            "Communication rccl/nccl": CommunicationKeys,
        }
        UncategorizedEventKey = "Uncategorized Events"

    # --- Events as lists --------------------------------------------------------------------------------

    @staticmethod
    def split_by_field(events, field, defaultKey=None):
        """Value of a field -> events with that value, both in order of appearance."""
        groups = defaultdict(list)
        for event in events:
            groups[event.get(field, defaultKey)].append(event)
        return dict(groups)

    @staticmethod
    def split_event_list(events):
        """(metadata as `get_metadata` gives it, all other events)"""
        return TraceEventUtils.get_metadata(events), TraceEventUtils.non_metadata_events(events)

    @staticmethod
    def get_metadata(events):
        """pid -> tid -> {process_name, thread_name, ...}; KeyError for metadata of an unknown name."""
        metadata = {}
        for event in events:
            if event["ph"] != "M":
                continue
            value = event["args"][_METADATA_ARGS[event["name"]]]
            thread = metadata.setdefault(event["pid"], {}).setdefault(event.get("tid"), {})
            thread[str(event["name"])] = value
        return metadata

    @staticmethod
    def non_metadata_events(events):
        return [event for event in events if event["ph"] != "M"]

    @staticmethod
    def split_events_by_pid_tid(events):
        """pid -> tid -> events, without metadata."""
        groups = defaultdict(lambda: defaultdict(list))
        for event in TraceEventUtils.non_metadata_events(events):
            groups[event.get("pid")][event.get("tid")].append(event)
        return {pid: dict(threads) for pid, threads in groups.items()}

    @staticmethod
    def sort_events_by_timestamp_duration(events):
        """Sorts the list itself, by start, then by duration."""
        events.sort(key=lambda event: (event.get("ts", 0), event.get("dur", 0)))

    @staticmethod
    def compute_event_end_times(events):
        """Puts `t_end` on every event that has a start and a duration."""
        for event in events:
            if "ts" in event and "dur" in event:
                event["t_end"] = event["ts"] + event["dur"]

    @staticmethod
    def find_threads_by_item_in_metadata(metadata, select_item):
        """The thread ids of one process whose (tid, values) item is selected."""
        return (item[0] for item in metadata.items() if select_item(item))

    @staticmethod
    def find_thread_by_item_in_metadata(metadata, select_item):
        return next(TraceEventUtils.find_threads_by_item_in_metadata(metadata, select_item))

    # --- Categories -------------------------------------------------------------------------------------

    @staticmethod
    def default_categorizer(event):
        return event.get("cat")

    @staticmethod
    def prepare_event_categorizer(events):
        """A function that gives events of a JAX trace their category, by the thread they are on."""
        metadata = TraceEventUtils.get_metadata(events)
        return lambda event: TraceEventUtils.get_event_category(metadata, event)

    @staticmethod
    def get_event_category(metadata, event):
        if event.get("ph") == "M":
            return "metadata"
        thread = metadata.get(event.get("pid"), {}).get(event.get("tid"), {}).get("thread_name") or ""
        return _jax_category(thread, event.get("name") or "")

    @staticmethod
    def matches_jax_derived_thread(thread_name, special):
        """Whether a thread is a derived line of the profiler, perhaps marked `- from #stream`."""
        return bool(thread_name) and (thread_name == special or thread_name.startswith(f"{special} - from #"))

    # --- Names ------------------------------------------------------------------------------------------

    @staticmethod
    def get_communication_regexes(custom_collective_patterns=None):
        """What names of collective kernels match; None stands for the usual custom collectives."""
        return TraceEventUtils.build_collective_filter_and_inference_rules(custom_collective_patterns)[0]

    @staticmethod
    def build_collective_filter_and_inference_rules(custom_collective_patterns=None):
        """(patterns of collective kernels, [(pattern, collective) of the custom ones])"""
        custom = _CUSTOM_COLLECTIVES if custom_collective_patterns is None else custom_collective_patterns
        rules = [(re.compile(pattern, re.IGNORECASE), collective) for pattern, collective in custom]
        return [*_LIBRARIES, *(pattern for pattern, _ in rules)], rules

    @staticmethod
    def is_communication_string(name):
        return bool(name) and _COMMUNICATION.search(name) is not None

    @staticmethod
    def is_rocm_legacy_memcpy(name):
        """Copies that old ROCm profilers recorded as kernels."""
        return bool(name) and _LEGACY_COPY.fullmatch(name) is not None

    @staticmethod
    def is_rocm_legacy_memset(name):
        return bool(name) and _LEGACY_FILL.fullmatch(name) is not None


_METADATA_ARGS = {"process_name": "name", "process_labels": "labels", "process_sort_index": "sort_index",
                  "thread_name": "name", "thread_sort_index": "sort_index"}

_LIBRARIES = [re.compile("rccl", re.IGNORECASE), re.compile("nccl", re.IGNORECASE)]
_CUSTOM_COLLECTIVES = [("cross_device_reduce", "allreduce")]
_COMMUNICATION = re.compile("rccl|nccl|cross_device_reduce", re.IGNORECASE)
_LEGACY_COPY = re.compile(r"(MEMORY_COPY_(HOST_TO_DEVICE|DEVICE_TO_HOST|DEVICE_TO_DEVICE)"
                          r"|__amd_rocclr_copyBuffer(Rect)?(Aligned)?)(\.kd)?")
_LEGACY_FILL = re.compile(r"__amd_rocclr_fillBuffer(Aligned)?(\.kd)?")


def _jax_category(thread, name):
    threads = TraceEventUtils.JaxSpecialThreads
    is_line = TraceEventUtils.matches_jax_derived_thread
    if is_line(thread, threads.FrameworkCallStack) or threads.pyXla in thread:
        return "cpu_op"
    if is_line(thread, threads.XlaOps):
        return "python function"
    if not thread.startswith("Stream"):
        return "Unknown"
    lowered = name.lower()
    if lowered.startswith(("copy", "memcpy")):
        return "memcpy"
    return "memset" if lowered.startswith("memset") else "kernel"
