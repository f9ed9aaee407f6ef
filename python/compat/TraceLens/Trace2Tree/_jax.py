"""The events of a JAX profile: categories from their threads, kernels below the host events that launched them."""

from ..util import TraceEventUtils

LINK = "correlation_id"
WORK = frozenset(("kernel", "memcpy", "memset"))
_HOST_PID = 701
_ATTENTION = ("FA BWD", "FA FWD", "FA V3")
UNCATEGORIZED = "Uncategorized Events/XLA"


def describe(events, metadata):
    """Puts `process`, `thread` and `cat` on the events, and on a GPU's kernels `gpu_kernel_op_cat`."""
    for event in events:
        process = metadata.get(event.get("pid"), {})
        event.setdefault("process", process.get(None) or process.get(0) or {})
        event.setdefault("thread", process.get(event.get("tid"), {}))
        if event.get("cat") is None:
            event["cat"] = TraceEventUtils.get_event_category(metadata, event)
        if event["cat"] == "kernel" and "/device:GPU" in (event["process"].get("process_name") or ""):
            event["gpu_kernel_op_cat"] = kernel_category(event)


def kernel_category(event):
    """By the kernel's name; its HLO op knows better, except of attention."""
    found = _category(event["name"])
    op = (event.get("args") or {}).get("hlo_op")
    if op and found not in _ATTENTION:
        found = _category(op) or found
    return found or UNCATEGORIZED


def _category(name):
    for category, words in TraceEventUtils.JaxOpKeys.ClassCategories.items():
        if any(word in name for word in words):
            return category
    return None


def link_launches(tree):
    """Everything that has the number of a host event is launched by it; the last one to say so counts."""
    by_number = {}
    for event in tree.events:
        number = (event.get("args") or {}).get(LINK)
        if number is not None:
            by_number.setdefault(number, []).append(event)
    for event in tree.events:
        number = (event.get("args") or {}).get(LINK)
        if number is None or event.get("pid") != _HOST_PID:
            continue
        for other in by_number[number]:
            if other is not event:
                _attach(tree, event, other)


def _attach(tree, launch, other):
    other["parent"], other["tree"] = launch["UID"], True
    launch.setdefault("children", []).append(other["UID"])
    tree.name2event_uids[other["name"]].append(other["UID"])
    if tree.event_to_category(other) not in WORK:
        return
    above, passed = launch, set()
    while above is not None and above["UID"] not in passed:
        passed.add(above["UID"])
        above.setdefault("gpu_events", []).append(other["UID"])
        above = tree.get_parent_event(above)
