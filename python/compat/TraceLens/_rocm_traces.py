"""Documents of ROCm's profilers as plain dictionaries."""

import gzip
import json
import os


class RocprofParser:
    """rocprofv3's JSON: one member `rocprofiler-sdk-tool` with buffers of records."""

    @staticmethod
    def load_rocprof_data(filepath):
        document = _load(os.fspath(filepath))
        if not document.get("rocprofiler-sdk-tool"):
            raise ValueError(f"Not a valid rocprofv3 file: {filepath} has no rocprofiler-sdk-tool")
        return document

    @staticmethod
    def extract_kernel_events(data):
        """One dict per kernel, by start; times in nanoseconds."""
        tool = _tool(data)
        names = {symbol["kernel_id"]: symbol.get("truncated_kernel_name") or symbol.get("kernel_name")
                 for symbol in tool.get("kernel_symbols", ())}
        kernels = []
        for record in _records(tool, "kernel_dispatch"):
            info = record["dispatch_info"]
            correlation = record.get("correlation_id", {})
            kernels.append({
                **_span(record),
                "name": names.get(info["kernel_id"], f"kernel_{info['kernel_id']}"),
                "kernel_id": info["kernel_id"],
                "dispatch_id": info.get("dispatch_id"),
                "agent_id": info.get("agent_id", {}).get("handle"),
                "stream_id": record.get("stream_id", {}).get("handle"),
                "correlation_id": correlation.get("id", correlation.get("internal")),
                "thread_id": record.get("thread_id"),
                "grid": _three(info.get("grid_size")),
                "block": _three(info.get("workgroup_size")),
            })
        return sorted(kernels, key=lambda kernel: kernel["ts"])

    @staticmethod
    def extract_memory_events(data):
        return [{**_span(record), "kind": record.get("kind"), "operation": record.get("operation"),
                 "stream_id": record.get("stream_id", {}).get("handle")}
                for record in _records(_tool(data), "memory_copy")]

    @staticmethod
    def extract_api_events(data):
        return [{**_span(record), "type": kind, "operation": record.get("operation"),
                 "thread_id": record.get("thread_id")}
                for kind in ("hip_api", "hsa_api") for record in _records(_tool(data), kind)]

    @staticmethod
    def get_metadata(data):
        tool = _tool(data)
        about = tool.get("metadata", {})
        return {"pid": about.get("pid"), "init_time": about.get("init_time"), "fini_time": about.get("fini_time"),
                "hostname": about.get("node", {}).get("hostname"), "command": about.get("command"),
                "agents": tool.get("agents", [])}


class PftraceParser:
    """Perfetto traces that were converted to Chrome's JSON."""

    @staticmethod
    def load_pftrace_data(filepath):
        path = os.fspath(filepath)
        if not path.endswith((".json", ".json.gz")):
            raise ValueError(f"this reader expects .json or .json.gz, got {path}")
        document = _load(path)
        if "traceEvents" not in document:
            raise ValueError(f"{path}: missing 'traceEvents'")
        if not isinstance(document["traceEvents"], list):
            raise ValueError(f"{path}: 'traceEvents' must be a list")
        return document

    @staticmethod
    def get_events(data):
        return data["traceEvents"]


def _load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return json.loads(file.read().decode("utf-8", errors="replace"))


def _tool(data):
    return data["rocprofiler-sdk-tool"][0]


def _records(tool, kind):
    return tool.get("buffer_records", {}).get(kind) or ()


def _span(record):
    start, end = record["start_timestamp"], record["end_timestamp"]
    return {"ts": start, "dur": end - start, "t_end": end}


def _three(sizes):
    return tuple(sizes[axis] for axis in "xyz") if sizes else None
