"""Tables of a JAX profile: time by kind of kernel, matrix products, communication."""

import re
from collections import defaultdict

from .._chatter import chat
from ..PerfModel.perf_model import jax_gemm
from ..util import DataLoader, JaxProfileProcessor, TraceEventUtils
from .gpu_event_analyser import GPUEventAnalyser, JaxGPUEventAnalyser

_KEYS = TraceEventUtils.JaxOpKeys
_SHORT_NAME = re.compile(r"\d+|_+$")
_DUMP_LINE = re.compile(r"^.*value:.*(all-gather-start|all-reduce-start|reduce-scatter|collective-permute-start)"
                        r"\.?([\d]+)?.*size=(\d+).*: ([a-zA-Z\d].*)\[.*$")
_BANDWIDTHS = (0, 50, 100, 200, 300, 400)  # GB/s


class JaxAnalyses:
    communication_events_map = {"all-gather-start": "all-gather", "all-reduce-start": "all-reduce",
                                "reduce-scatter": "reduce-scatter", "collective-permute-start": "collective-permute"}

    # --- Which events ---------------------------------------------------------------------------------------

    @staticmethod
    def default_gpu_event_filter(event):
        """Events on a stream of a GPU, not on the lines that the profiler derives."""
        thread = (event.get("thread") or {}).get("thread_name")
        if thread is None:
            return JaxAnalyses.is_gpu_stream_tid(event)
        return thread.startswith("Stream #")

    @staticmethod
    def is_gpu_stream_pid(event_or_pid):
        return _number(event_or_pid, "pid") <= 100

    @staticmethod
    def is_gpu_stream_tid(event_or_tid):
        return _number(event_or_tid, "tid") < 100

    @staticmethod
    def get_just_gpu_events(all_events):
        """Of the lists by process, those of GPUs that computed something."""
        return {pid: lists for pid, lists in all_events.items() if lists.get(GPUEventAnalyser.computation_key)}

    # --- Time by kind -----------------------------------------------------------------------------------------

    @staticmethod
    def breakdown_compute_events(event_list, group_by_gpu=True, group_by_name=False):
        """([count, time] by category, [count, time] by name of what has none); with `group_by_gpu` per process."""
        categorized = defaultdict(dict)
        uncategorized = defaultdict(dict)
        for event in event_list:
            pid = event["pid"] if group_by_gpu else None
            category = _category(event)
            _count(categorized[pid], category or _KEYS.UncategorizedEventKey, event["dur"])
            if category is None:
                name = event["name"]
                _count(uncategorized[pid], name, event["dur"])
        for groups in categorized.values():
            groups.setdefault(_KEYS.UncategorizedEventKey, [0, 0])
        if group_by_gpu:
            return dict(categorized), dict(uncategorized)
        return categorized[None], uncategorized[None]

    @staticmethod
    def create_breakdown_df(events, total_time, num_gpus=8):
        """[count, time] by name as a table with its share of the total, the largest first."""
        import pandas as pd

        frame = pd.DataFrame.from_dict(events, orient="index", columns=["count", "time"])
        frame["time ms"] = frame.pop("time") / 1000.0
        frame["time ms per gpu"] = frame["time ms"] / num_gpus
        frame["percent"] = frame["time ms"] * 1000.0 / total_time * 100
        frame.index.name = "name"
        return frame.sort_values("percent", ascending=False, kind="stable")

    @staticmethod
    def create_gpu_summary(analyser, group_kernels_by_name=False):
        """(averages over the GPUs, time by category, time of what has no category by name)"""
        averages = analyser.get_average_metrics()
        gpus = JaxAnalyses.get_just_gpu_events(
            analyser.get_gpu_event_lists(event_filter=JaxAnalyses.default_gpu_event_filter))
        events = [event for lists in gpus.values() for event in lists[GPUEventAnalyser.computation_key]]
        categorized, uncategorized = JaxAnalyses.breakdown_compute_events(events, group_by_gpu=False,
                                                                          group_by_name=True)
        count = max(len(analyser.gpu_pids), 1)
        categories = JaxAnalyses.create_breakdown_df(categorized, averages["computation_time"] * count, count)
        total = sum(time for _, time in uncategorized.values()) or 1
        others = JaxAnalyses.create_breakdown_df(uncategorized, total, count)
        return GPUEventAnalyser.get_breakdown_df_from_dict(averages), categories, others

    @staticmethod
    def summarize_gpu_events(filename, save_preprocessed=False):
        """The three tables of `create_gpu_summary` for a profile."""
        events = DataLoader.load_data(filename, save_preprocessed)["traceEvents"]
        return JaxAnalyses.create_gpu_summary(JaxGPUEventAnalyser(_named(events)))

    # --- Matrix products --------------------------------------------------------------------------------------

    class JaxGemm(jax_gemm):
        """A library product, by the parameters that its HLO instruction gave."""

        @staticmethod
        def get_param_details(event):
            op = event[TraceEventUtils.JaxKernelEventArgs.hlo_op]
            details = jax_gemm.get_param_details({"args": op})
            return {"M": details["M"], "N": details["N"], "K": details["K"], "bias": details["bias"],
                    "stride_A": None, "stride_B": None, "dtype_A_B": details["dtype_A_B"],
                    "Op B": details["B"], "simulation_dtype": details["simulation_dtype"]}

        def flops(self):
            return self.param_details["Op B"] * super().flops()

        def bytes(self):
            one = super().bytes()
            return None if one is None else self.param_details["Op B"] * one

    @staticmethod
    def get_perf_model(event):
        """The model of a kernel, by its name; None if it has none."""
        return JaxAnalyses.JaxGemm if any(key in event["name"] for key in _KEYS.GemmKeys) else None

    @staticmethod
    def gemm_perf_metrics(event, hlo_op, arch=None):
        """The row of one product: work, time, rates, parameters."""
        model = JaxAnalyses.JaxGemm({TraceEventUtils.JaxKernelEventArgs.hlo_op: hlo_op,
                                     "kernel_names": [event["name"]]}, arch=arch)
        flops, moved, time = model.flops(), model.bytes(), event["dur"]
        nan = float("nan")
        return {
            "GFLOPS": flops / 1e9,
            "Kernel Time (µs)": time,
            "TFLOPS/s": flops / 1e12 / (time / 1e6) if time > 0 else nan,
            "Data Moved (MB)": nan if moved is None else moved / 2**20,
            "FLOPS/Byte": flops / moved if moved else nan,
            "TB/s": moved / 1e12 / (time / 1e6) if moved is not None and time > 0 else nan,
            **{f"param: {name}": value for name, value in model.param_details.items()},
        }

    @staticmethod
    def summarize_gpu_gemm_events_from_pb(pb_file_name, module_name="jit_train_step"):
        """The products of a module: `name`, `Batch`, `M`, `N`, `K`, `Beta`, `Type`."""
        import pandas as pd

        products = JaxProfileProcessor.process_gemm_ops(
            JaxProfileProcessor.process_protobuf_file(pb_file_name, module_name))
        columns = ["Batch", "M", "N", "K", "Beta", "Type"]
        frame = pd.DataFrame.from_dict(products, orient="index", columns=[*columns, "Computation"])[columns]
        return frame.rename_axis("name").reset_index()

    @staticmethod
    def gemm_performance_from_pb(pb_file_name, module_name="jit_train_step", arch=None):
        """One row of `gemm_perf_metrics` per product on the first GPU."""
        import pandas as pd

        products = JaxProfileProcessor.process_gemm_ops(
            JaxProfileProcessor.process_protobuf_file(pb_file_name, module_name))
        rows = []
        for event in _named(DataLoader.load_data(pb_file_name)["traceEvents"]):
            op = (event.get("args") or {}).get("hlo_op")
            if event.get("pid") != 1 or op is None or not JaxAnalyses.default_gpu_event_filter(event):
                continue
            product = products.get(JaxProfileProcessor._normalize_hlo_op_key(op))
            if product is not None and JaxAnalyses.get_perf_model(event):
                rows.append(JaxAnalyses.gemm_perf_metrics(event, product, arch))
        return pd.DataFrame(rows)

    # --- Communication --------------------------------------------------------------------------------------------

    @staticmethod
    def process_communication_events_from_xla_dump(xla_file_name):
        """Messages of a dump after buffer assignment: kind -> [[number, bytes, text], ...]"""
        messages = defaultdict(list)
        with open(xla_file_name, encoding="utf-8", errors="replace") as file:
            for line in file:
                match = _DUMP_LINE.match(line.rstrip("\n"))
                if match:
                    kind, *rest = match.groups()
                    messages[kind].append(rest)
        return dict(messages)

    @staticmethod
    def process_communication_events_from_profile(analyser, messages):
        """collective -> name -> [shortest time over the GPUs in µs, bytes, messages, GB/s]"""
        gpus = JaxAnalyses.get_just_gpu_events(
            analyser.get_gpu_event_lists(event_filter=JaxAnalyses.default_gpu_event_filter))
        times = defaultdict(dict)
        for pid, lists in gpus.items():
            for event in lists[GPUEventAnalyser.communication_key]:
                name = (event.get("args") or {}).get("hlo_op", "")
                if name.startswith("reduce-scatter"):
                    name = ".".join(name.split(".")[:2])
                times[name][pid] = min(event["dur"], times[name].get(pid, event["dur"]))
        processed = {}
        for kind, entries in messages.items():
            rows = processed.setdefault(JaxAnalyses.communication_events_map[kind], {})
            scale = len(gpus) if kind == "reduce-scatter" else 1
            for number, size, _ in entries:
                name = f"{kind}.{number}" if number else kind
                if name not in times:
                    chat(f"{name} is in the dump, but did not run")
                    continue
                row = rows.setdefault(name, [min(times[name].values()), 0, 0, 0.0])
                row[1] += int(size)
                row[2] += 1
                row[3] = row[1] * scale * 0.001 / row[0] if row[0] else 0.0
        return processed

    @staticmethod
    def summarize_communication_data(comm_data):
        """collective -> (rows, bandwidth by size, count by size, time by size, time by range of bandwidth)"""
        return {collective: _communication_tables(collective, rows) for collective, rows in comm_data.items()}


def _communication_tables(collective, rows):
    import pandas as pd

    frame = pd.DataFrame([[collective, name, time, size / 1024, bandwidth]
                          for name, (time, size, _, bandwidth) in rows.items()],
                         columns=["base_collective", "collective_name", "latency_us", "buffer_size_kb",
                                  "effective_bw"])
    by_size = frame.groupby(["base_collective", "buffer_size_kb"])
    bandwidth = by_size["effective_bw"].agg(["mean", "std"]).reset_index()
    count = by_size.size().reset_index(name="count")
    total = frame["latency_us"].sum()
    time = frame.groupby("buffer_size_kb")["latency_us"].sum().reset_index()
    time["percentage"] = time["latency_us"] / total * 100
    ends = [*_BANDWIDTHS[1:], float("inf")]
    ranges = pd.DataFrame([
        {"Bandwidth range": f"{low}-{high} GB/s" if high != float("inf") else f"{low}+ GB/s",
         "Percentage of time": frame.loc[(frame["effective_bw"] >= low) & (frame["effective_bw"] < high),
                                         "latency_us"].sum() / total * 100}
        for low, high in zip(_BANDWIDTHS, ends)])
    return frame, bandwidth, count, time, ranges


def _number(event_or_number, key):
    return event_or_number[key] if isinstance(event_or_number, dict) else event_or_number


def _category(event):
    """By the name of the kernel; if that says nothing, by the HLO op."""
    for text in (event["name"], (event.get("args") or {}).get("hlo_op") or ""):
        for category, keys in _KEYS.ClassCategories.items():
            if any(key in text for key in keys):
                return category
    return None


def _count(groups, name, time):
    entry = groups.setdefault(name, [0, 0])
    entry[0] += 1
    entry[1] += time


def _named(events):
    """Events with the names of their process and thread."""
    metadata, rest = TraceEventUtils.split_event_list(events)
    for event in rest:
        process = metadata.get(event.get("pid"), {})
        event.setdefault("process", process.get(None, process.get(0, {})))
        event.setdefault("thread", process.get(event.get("tid"), {}))
    return rest
