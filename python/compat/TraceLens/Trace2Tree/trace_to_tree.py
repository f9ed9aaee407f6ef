"""TraceToTree: the events of a trace as dictionaries, and the call tree over them."""

from collections import defaultdict

from tracelens import ReadError

from .._chatter import chat
from .._errors import events_of
from ..util import DataLoader
from . import _build, _jax, _pseudo_ops
from ._kinds import category_of, is_module
from ._modules import module_children, module_parent
from ._printing import call_stack, print_parents, print_subtree
from ._source import MADE_ON_USE, FileSource

_NEEDS_FRAMES = (
    "This method requires the add_python_func flag to be set to True when building the tree."
)


class TraceToTree:
    """`TraceToTree(list of dicts)`, then `build_tree()`; or the tree of an analyzer of a file.

    Events are dictionaries: those of `events` and `events_by_uid` are the same objects, and what a
    program writes onto them counts in the tables that are made afterwards.
    """

    has_annotations = False  # whether models find some on their events

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
        self._source = None  # of a file: where its events come from
        self._is_built = False
        _build.index_events(self)

    @classmethod
    def from_file(cls, path, captures=None, event_to_category=None):
        """The tree of a trace file, whose events become dictionaries when they are looked at."""
        sentence = None
        if event_to_category in (None, category_of) and not str(path).endswith(".pb"):
            try:
                source = FileSource.of(path, captures)
            except ReadError as error:
                sentence = str(error)
            else:
                tree = cls.__new__(cls)
                tree._take_source(source)
                return tree
        document = DataLoader.load_data(path, sentence=sentence)
        events = events_of(document, path, sentence)
        rest = {key: value for key, value in document.items() if key != "traceEvents"}
        return cls(events, event_to_category=event_to_category, trace_metadata=rest)

    def _take_source(self, source):
        self._source = source
        self.prune_nongpu_paths = True
        self.event_to_category = category_of
        self.trace_metadata = source.metadata
        self.add_python_func = False
        self.made_up_events = {}

    def __getattr__(self, name):
        """What is made of a file's events when it is first asked for."""
        source = self.__dict__.get("_source")
        if source is None or name not in MADE_ON_USE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with source.lock:
            if name not in self.__dict__:
                self.__dict__[name] = source.make(name)
            return self.__dict__[name]

    def __getstate__(self):
        """Of copies and pickles: the events as they are now, without the file they came from."""
        for uid in self.made_up_events:
            self.get_made_up_event(uid)
        if self._source is None:
            return dict(self.__dict__)
        made = {name: getattr(self, name) for name in MADE_ON_USE}
        return {**self.__dict__, **made, "_source": None, "_is_built": True}

    def __setstate__(self, state):
        self.__dict__.update(state)

    # --- building ---

    def build_tree(
        self, add_python_func=False, link_fwd_bwd=True, metadata_events=None, pb_file_name=None
    ):
        chat(f"Building tree with add_python_func={add_python_func}")
        if self._source is not None:
            self.add_python_func = add_python_func
            with self._source.lock:
                self._source.take_lists(self)
                self._source.build(add_python_func, self.prune_nongpu_paths, link_fwd_bwd)
                self._forget_made()
            return
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
            return self._event(uid)
        except KeyError:
            if uid not in self.made_up_events:
                raise
            return self.get_made_up_event(uid)

    def get_made_up_event(self, uid):
        """An event of an analysis, which is not in the tree."""
        made_up = self.made_up_events[uid]
        if not isinstance(made_up, dict):
            made_up = self.made_up_events[uid] = made_up.make()
        return made_up

    def _event(self, uid):
        if self._source is not None and "events_by_uid" not in self.__dict__:
            return self._source.event(uid)
        return self.events_by_uid[uid]

    def get_parent_event(self, event):
        parent = event.get("parent")
        return None if parent is None else self._event(parent)

    def get_children_events(self, event):
        return [self._event(uid) for uid in event.get("children", ())]

    def get_gpu_events(self, event):
        return [self._event(uid) for uid in event.get("gpu_events", ())]

    def get_node_by_ext_id_pid_tid(self, ext_id, pid, tid):
        for event in self.events:
            if event.get("pid") == pid and event.get("tid") == tid:
                if (event.get("args") or {}).get("External id") == ext_id:
                    return event
        return None

    def _subtree(self, uid):
        pending = [self._event(uid)]
        while pending:
            event = pending.pop()
            yield event
            pending.extend(self._event(child) for child in event.get("children", ()))

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

    # --- the native trace ---

    def native_trace(self):
        """What native tables are made of: the file's trace while nothing was changed, else one of
        the changed events; None when the events can only be looked at one by one."""
        return None if self._source is None else self._source.native_trace(self)

    def is_edited(self):
        """Whether the program changed what a file says, or its events are the program's own."""
        return self._source is None or self._source.is_edited(self)

    def leave_on_events(self, write):
        """Runs `write()`, which puts results of an analysis onto events: at once when the program
        has seen events, else before it sees the first."""
        if self._source is None:
            write()
        else:
            self._source.leave(write)

    def add_pseudo_ops(self):
        """Ops around kernels of serving engines that no recorded op stands for."""
        if self._source is None or self._source.was_seen:
            _pseudo_ops.add_to(self)
            return
        self._source.add_pseudo_ops(self.add_python_func)
        self._forget_made()

    def _forget_made(self):
        self._source.forget_made()
        for name in MADE_ON_USE:
            self.__dict__.pop(name, None)

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
            self.has_annotations = True
            event["annotation"] = next(
                (each["name"] for each in ranges
                 if each["ts"] <= event["ts"] and end < each["ts"] + each.get("dur", 0)), "NA")  # fmt: skip


class JaxTraceToTree(TraceToTree):
    """The same over the events of a JAX profile: their threads tell what they are, `correlation_id` who launched them."""

    def __init__(
        self,
        events_data,
        prune_nongpu_paths=True,
        compute_end_times=True,
        linking_key=_jax.LINK,
        event_to_category=None,
        trace_metadata=None,
    ):
        events_data = list(events_data)
        super().__init__(
            [event for event in events_data if event.get("ph") != "M"], prune_nongpu_paths, compute_end_times,
            linking_key, event_to_category, trace_metadata)  # fmt: skip
        self.metadata = _build.metadata_of(events_data)
        _jax.describe(self.events, self.metadata)
        _build.index_events(self)

    def add_gpu_ops_to_tree(self):
        _jax.link_launches(self)

    def label_non_gpu_paths(self):
        for event in self.events:
            if self.event_to_category(event) not in _jax.WORK and "gpu_events" not in event:
                event["non_gpu_path"] = True
