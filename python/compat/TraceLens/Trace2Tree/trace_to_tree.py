"""TraceToTree: the events of a trace as dictionaries, and the call tree over them."""

import os
from collections import defaultdict

from . import _build
from ._kinds import GPU, category_of, is_module
from ..util import DataLoader
from ._modules import module_children, module_parent
from ._printing import call_stack, print_parents, print_subtree

_NEEDS_FRAMES = (
    "This method requires the add_python_func flag to be set to True when building the tree."
)


class TraceToTree:
    """`TraceToTree(list of dicts)`, then `build_tree()`; or the tree of an analyzer of a file.

    Events are dictionaries: those of `events` and `events_by_uid` are the same objects, and what a
    program writes onto them counts in the tables that are made afterwards.
    """

    def __init__(
        self,
        events_data,
        prune_nongpu_paths=True,
        compute_end_times=True,
        linking_key=None,
        event_to_category=None,
        trace_metadata=None,
    ):
        self.prune_nongpu_paths = prune_nongpu_paths
        self.event_to_category = event_to_category or category_of
        self.trace_metadata = trace_metadata or {}
        self.add_python_func = False
        self.events = _build.copies(events_data, compute_end_times)
        self.events_by_uid = {event["UID"]: event for event in self.events}
        self.linking_key = linking_key or _build.linking_key_of(
            self.events, self.event_to_category)  # fmt: skip
        self.metadata = _build.metadata_of(self.events)
        self.cpu_root_nodes = []
        self.name2event_uids = defaultdict(list)
        self.made_up_events = {}  # of analyses: not in the tree, but their tables name them
        self._is_built = False
        _build.index_events(self)

    @classmethod
    def from_file(cls, path, captures=None, event_to_category=None):
        document = DataLoader.load_data(path)
        rest = {key: value for key, value in document.items() if key != "traceEvents"}
        return cls(document["traceEvents"], event_to_category=event_to_category, trace_metadata=rest)

    # --- building ---

    def build_tree(
        self, add_python_func=False, link_fwd_bwd=True, metadata_events=None, pb_file_name=None
    ):
        if os.environ.get("TRACELENS_VERBOSE"):
            print(f"Building tree with add_python_func={add_python_func}")
        if self._is_built:
            _build.forget_links(self)
        self._is_built = True
        self.build_host_call_stack_tree(add_python_func)
        self.add_gpu_ops_to_tree()
        if self.prune_nongpu_paths:
            self.label_non_gpu_paths()
        if link_fwd_bwd:
            self.link_all_fwd_bwd_events()

    def build_host_call_stack_tree(self, add_python_func=False):
        self.add_python_func = add_python_func
        _build.link_host_calls(self, add_python_func)

    def add_gpu_ops_to_tree(self):
        _build.link_gpu_work(self)

    def label_non_gpu_paths(self):
        _build.label_idle_paths(self)

    def link_all_fwd_bwd_events(self):
        _build.link_autograd(self)

    # --- finding events ---

    def get_UID2event(self, uid):
        try:
            return self.events_by_uid[uid]
        except KeyError:
            if uid in self.made_up_events:
                return self.made_up_events[uid]
            raise

    def get_parent_event(self, event):
        parent = event.get("parent")
        return None if parent is None else self.events_by_uid[parent]

    def get_children_events(self, event):
        return [self.events_by_uid[uid] for uid in event.get("children", ())]

    def get_gpu_events(self, event):
        return [self.events_by_uid[uid] for uid in event.get("gpu_events", ())]

    def get_node_by_ext_id_pid_tid(self, ext_id, pid, tid):
        for event in self.events:
            if event.get("pid") == pid and event.get("tid") == tid:
                if (event.get("args") or {}).get("External id") == ext_id:
                    return event
        return None

    def _subtree(self, uid):
        pending = [self.events_by_uid[uid]]
        while pending:
            event = pending.pop()
            yield event
            pending.extend(self.events_by_uid[child] for child in event.get("children", ()))

    def get_seq_nums_for_node_subtree(self, uid):
        numbers = ((event.get("args") or {}).get("Sequence number") for event in self._subtree(uid))
        return {number for number in numbers if number is not None}

    def get_subtree_bwd_events(self, uid):
        return sorted({bwd for event in self._subtree(uid) for bwd in event.get("bwd_events", ())})

    # --- text ---

    def traverse_subtree_and_print(
        self, node, prune_non_gpu=True, cpu_op_fields=(), include_bwd=False
    ):
        print_subtree(self, node, prune_non_gpu, cpu_op_fields, include_bwd)

    def traverse_parents_and_print(self, node, cpu_op_fields=(), follow_fwd_link=False):
        return print_parents(self, node, cpu_op_fields, follow_fwd_link)

    def traverse_parents_and_get_callstack(self, node, filter=(), follow_fwd_link=False):
        return call_stack(self, node, filter, follow_fwd_link)

    # --- modules ---

    def get_nn_module_children(self, event):
        self._require_frames()
        return module_children(self, event)

    def get_nn_module_parent(self, event):
        self._require_frames()
        return module_parent(self, event)

    def _require_frames(self):
        if not self.add_python_func:
            raise ValueError(_NEEDS_FRAMES)

    @staticmethod
    def _is_nn_module_event(event):
        return is_module(event)

    # --- annotations ---

    def apply_annotation(self, name_filters=()):
        """Sets `annotation`: the first user annotation that lasts longer than the event."""
        ranges = sorted(
            (event for event in self.events if "user_annotation" in (event.get("cat") or "")),
            key=lambda event: event.get("ts", 0))  # fmt: skip
        for event in self.events:
            if not event.get("name", "").startswith(tuple(name_filters)):
                continue
            if event.get("ts") is None or event.get("dur") is None:
                continue
            end = event["ts"] + event["dur"]
            event["annotation"] = next(
                (each["name"] for each in ranges
                 if each["ts"] <= event["ts"] and end < each["ts"] + each.get("dur", 0)), "NA")  # fmt: skip



class JaxTraceToTree(TraceToTree):
    """The same over the events of a JAX profile."""
