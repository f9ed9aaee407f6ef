"""Putting an op of one's own into a tree: around a kernel, around all children, or above an event."""

import logging
import re

logger = logging.getLogger(__name__)

_ARGUMENTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
_NUMBERED = re.compile(r"(sglang_profiler::.+?)_\d+")


def set_bookkeeping_attr(tree, event):
    """Enters a new event into the tree's lists, under the next number."""
    event["UID"] = len(tree.events)
    tree.events.append(event)
    tree.events_by_uid[event["UID"]] = event
    number = event["args"].get("Sequence number")
    if number is not None:
        tree.seq_num2event_uids_map.setdefault(number, []).append(event["UID"])


def _entered(tree, name, like, members, donor_args, number, more):
    """A new op with the place of `like`, the arguments of another, and links that the caller gives."""
    made = {"ph": "X", "cat": "cpu_op", "name": name}
    made.update((key, like[key]) for key in members if key in like)
    made["args"] = {"Pseudo op": True, **donor_args, "Sequence number": number, **(more or {})}
    set_bookkeeping_attr(tree, made)
    return made


def _donated(donor, otherwise):
    """The argument lists of a donor, and its sequence number or else another number."""
    args = (donor or {}).get("args") or {}
    return {key: args[key] for key in _ARGUMENTS if key in args}, args.get("Sequence number", otherwise)


def inject_pseudo_op(tree, kernel_evt, name, seq_num, dims=None, types=None, strides=None, concrete_inputs=None,
                     extra_args=None):
    """An op around the launch of one kernel. Going up from the kernel one still meets the old op only."""
    launch = tree.get_parent_event(kernel_evt)
    op = tree.get_parent_event(launch)
    own = op.get("args") or {}
    given = zip(_ARGUMENTS, (dims, types, strides, concrete_inputs))
    args = {key: own.get(key) if value is None else value for key, value in given}
    args["External id"] = (kernel_evt.get("args") or {}).get("correlation")
    made = _entered(tree, name, op, ("pid", "tid"), args, seq_num, extra_args)
    made.update(parent=op["UID"], children=[launch["UID"]], gpu_events=[kernel_evt["UID"]])
    op["children"].remove(launch["UID"])
    op["children"].append(made["UID"])
    return made


def inject_pseudo_op_wrap_children(tree, parent_evt, name, shape_donor_evt=None, extra_args=None):
    """An op between an event and all it called; it is a root op instead of those below. None without children."""
    below = list(parent_evt.get("children") or ())
    if not below:
        return None
    args, number = _donated(shape_donor_evt, parent_evt["UID"])
    made = _entered(tree, name, parent_evt, ("pid", "tid", "ts", "dur"), args, number, extra_args)
    made.update(parent=parent_evt["UID"], children=below, gpu_events=list(parent_evt.get("gpu_events") or ()))
    for uid in below:
        tree.get_UID2event(uid)["parent"] = made["UID"]
    parent_evt["children"] = [made["UID"]]
    inside = {event["UID"] for event in tree._subtree(made["UID"])}
    tree.cpu_root_nodes[:] = [uid for uid in tree.cpu_root_nodes if uid not in inside] + [made["UID"]]
    return made


def inject_pseudo_op_above_event(tree, target_evt, name, shape_donor_evt=None, extra_args=None):
    """An op between an event and its caller; None, with a warning, where nobody called it."""
    above = tree.get_parent_event(target_evt)
    if above is None:
        logger.warning("%s: nobody called event %s, so no op is put above it", name, target_evt["UID"])
        return None
    args, number = _donated(shape_donor_evt or target_evt, target_evt["UID"])
    made = _entered(tree, name, target_evt, ("pid", "tid", "ts", "dur"), args, number, extra_args)
    made.update(parent=above["UID"], children=[target_evt["UID"]],
                gpu_events=list(target_evt.get("gpu_events") or ()))  # fmt: skip
    siblings = above["children"]
    siblings[siblings.index(target_evt["UID"])] = made["UID"]
    target_evt["parent"] = made["UID"]
    return made


def normalize_sglang_profiler_op_names(tree):
    """Takes the running number off SGLang's ops: sglang_profiler::gemm_12 -> sglang_profiler::gemm."""
    names = tree.name2event_uids
    for name in list(names):
        match = _NUMBERED.fullmatch(name)
        if match is None or not names[name] or tree.get_UID2event(names[name][0]).get("cat") != "cpu_op":
            continue
        uids = names.pop(name)
        for uid in uids:
            tree.get_UID2event(uid)["name"] = match.group(1)
        names[match.group(1)] = [*names.get(match.group(1), ()), *uids]
