"""The call tree of events that the user's program holds as dictionaries.

Each step writes its result onto the events: `parent`, `children`, `gpu_events`, ... Trees of files
come from the native core with the same keys; these steps are for lists of dictionaries, and for
programs that run a step again after they changed a tree.
"""

import re
from collections import defaultdict

from ._kinds import GPU, GRAPH_LAUNCHES, PYTHON, RUNTIME, is_module, span_ns

# What a metadata event says, by its name: the key among its arguments.
_METADATA = {
    "process_name": "name",
    "process_labels": "labels",
    "process_sort_index": "sort_index",
    "thread_name": "name",
    "thread_sort_index": "sort_index",
}
_EVALUATE = "autograd::engine::evaluate_function:"
# A call may end this much after the one around it and still be taken for its neighbour.
_BLEED_NS = 1000
_BUILT_KEYS = ("tree", "parent", "children", "gpu_events", "cpu_op_root", "nn_module_stack",
               "non_gpu_path", "fwd_event", "bwd_events")  # fmt: skip


def copies(events, compute_end_times=True):
    """New dictionaries with the events' own members; `args` are shared with the caller."""
    made = []
    for uid, event in enumerate(events):
        event["ph"]  # an event without a phase is no event of a trace: KeyError
        copy = dict(event)
        copy["UID"] = uid
        if compute_end_times and "t_end" not in copy and "ts" in copy and "dur" in copy:
            copy["t_end"] = copy["ts"] + copy["dur"]
        copy.setdefault("cat", None)
        made.append(copy)
    return made


def metadata_of(events):
    found = {}
    for event in events:
        if event["ph"] != "M":
            continue
        key = _METADATA[event["name"]]  # of what no viewer knows: KeyError
        args = event.get("args") or {}
        if key in args:
            threads = found.setdefault(event.get("pid"), {})
            threads.setdefault(event.get("tid"), {})[event["name"]] = args[key]
    return found


def linking_key_of(events, category):
    for event in events:
        if category(event) in RUNTIME and "launch" in event["name"].lower():
            return "correlation" if "correlation" in (event.get("args") or {}) else "External id"
    return "External id"


def index_events(tree):
    """The maps by which steps find events: by flow, by link, by sequence number, by stream."""
    key, category = tree.linking_key, tree.event_to_category
    tree.runtime_event_uids = []
    tree.ac2g_event_map = {"start": {}, "end": {}}
    tree.pid_tid_event_map = {}
    tree.linking_id_to_gpu_events = defaultdict(list)
    tree.seq_num2event_uids_map = {}
    streams = defaultdict(list)
    flows = {"s": tree.ac2g_event_map["start"], "f": tree.ac2g_event_map["end"]}
    for event in tree.events:
        cat = category(event)
        if cat in RUNTIME:
            tree.runtime_event_uids.append(event["UID"])
        if cat == "ac2g":
            if event.get("ph") in flows and "id" in event:
                flows[event["ph"]][event["id"]] = event
            continue
        args = event.get("args")
        if not args:
            continue
        link = args.get(key)
        if link is not None:
            if cat in GPU:
                tree.linking_id_to_gpu_events[link].append(event)
            pid, tid = event.get("pid"), event.get("tid")
            if pid is not None and tid is not None:
                tree.pid_tid_event_map[(pid, tid, link)] = event
        if args.get("Sequence number") is not None:
            tree.seq_num2event_uids_map.setdefault(args["Sequence number"], []).append(event["UID"])
        if args.get("stream") is not None:
            streams[args["stream"]].append(event)
    tree.dict_stream_index2event = {}
    for stream, events in streams.items():
        events.sort(key=lambda event: event.get("ts", 0))
        for number, event in enumerate(events):
            event["args"]["stream_index"] = number
            tree.dict_stream_index2event[(stream, number)] = event


def forget_links(tree):
    for event in tree.events:
        for key in _BUILT_KEYS:
            event.pop(key, None)
    tree.cpu_root_nodes = []
    tree.name2event_uids = defaultdict(list)


def link_host_calls(tree, add_python_func):
    """Who called whom on each thread, by time."""
    category = tree.event_to_category
    wanted = {"cpu_op", *RUNTIME} | ({PYTHON} if add_python_func else set())
    host = []
    for event in tree.events:
        cat = category(event)
        if cat in wanted:
            event["dur"]  # a call without one cannot be placed: KeyError
            host.append((event, cat, *span_ns(event)))
    host.sort(key=lambda each: each[2])
    threads = defaultdict(_Frames)
    for event, cat, start, end in host:
        event["tree"] = True
        tree.name2event_uids[event["name"]].append(event["UID"])
        frames = threads[(event.get("pid"), event.get("tid"))]
        if not frames.make_room(start, end):
            continue
        event["nn_module_stack"] = list(frames.modules) or ["root"]
        caller = frames.top()
        if caller is not None:
            event["parent"] = caller["UID"]
            caller.setdefault("children", []).append(event["UID"])
        if cat == "cpu_op" and frames.ops == 0:
            event["cpu_op_root"] = True
            tree.cpu_root_nodes.append(event["UID"])
        frames.enter(event, end, cat == "cpu_op", cat == PYTHON and is_module(event))


class _Frames:
    """The calls that are open on one thread while its events go by in order of their starts."""

    def __init__(self):
        self._open = []  # (event, end, is an op, is a module)
        self.modules = []
        self.ops = 0

    def top(self):
        return self._open[-1][0] if self._open else None

    def enter(self, event, end, is_op, is_module_call):
        self._open.append((event, end, is_op, is_module_call))
        self.ops += is_op
        if is_module_call:
            self.modules.append(module_class(event["name"]))

    def _leave(self):
        _, _, is_op, is_module_call = self._open.pop()
        self.ops -= is_op
        if is_module_call:
            self.modules.pop()

    def make_room(self, start, end):
        """Closes what ended before; False when the call cannot be inside what is still open."""
        while self._open and start >= self._open[-1][1]:
            self._leave()
        if self._open and end > self._open[-1][1]:
            if self._open[-1][1] - start >= _BLEED_NS or len(self._open) < 2:
                return False
            self._leave()
        return True


def module_class(name):
    """nn.Module: Block_3 -> nn.Module: Block"""
    return re.sub(r"_\d+$", "", name)


def link_gpu_work(tree):
    """Kernels and copies below the calls that launched them."""
    key, uids = tree.linking_key, tree.events_by_uid
    starts, ends = tree.ac2g_event_map["start"], tree.ac2g_event_map["end"]
    for uid in tree.runtime_event_uids:
        launch = uids[uid]
        link = (launch.get("args") or {}).get(key)
        if launch["name"] in GRAPH_LAUNCHES:
            targets = tree.linking_id_to_gpu_events.get(link, ())
        elif link in starts and link in ends:
            flow = ends[link]
            target = tree.pid_tid_event_map.get((flow.get("pid"), flow.get("tid"), flow["id"]))
            targets = (target,) if target is not None else ()
        else:
            continue
        for target in targets:
            if tree.event_to_category(target) in GPU:
                _attach(tree, launch, target)


def _attach(tree, launch, target):
    target["parent"], target["tree"] = launch["UID"], True
    launch.setdefault("children", []).append(target["UID"])
    tree.name2event_uids[target["name"]].append(target["UID"])
    above = launch
    while above is not None:
        above.setdefault("gpu_events", []).append(target["UID"])
        above = tree.get_parent_event(above)


def label_idle_paths(tree):
    """Marks everything that launches nothing."""
    category = tree.event_to_category
    for event in tree.events:
        if category(event) not in GPU and "gpu_events" not in event:
            event["non_gpu_path"] = True


def link_autograd(tree):
    """Backward ops and the forward ops they belong to, by the numbers that autograd gives."""
    uids = tree.events_by_uid
    for numbers in tree.seq_num2event_uids_map.values():
        events = [uids[uid] for uid in numbers]
        backward = next((e for e in events if e["name"].startswith(_EVALUATE)), None)
        if backward is None:
            continue
        thread = (backward.get("pid"), backward.get("tid"))
        forward, latest = None, -1
        for event in events:
            if (event.get("pid"), event.get("tid")) != thread and event.get("ts", 0) > latest:
                forward, latest = event, event.get("ts", 0)
        if forward is not None:
            backward["fwd_event"] = forward["UID"]
            forward.setdefault("bwd_events", []).append(backward["UID"])
