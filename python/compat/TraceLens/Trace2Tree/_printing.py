"""The tree as text, and call stacks. Loops, not recursion: Python stacks may be thousands deep."""

from ._kinds import GPU

_NAME_WIDTH = 64
_STACK_NAME_WIDTH = 256


def _cut(name, width):
    return name[:width] + ".." if len(name) > width else name


def _described(tree, event):
    text = (f"UID: {event['UID']}, Category: {tree.event_to_category(event)}, "
            f"Name: {_cut(event['name'], _NAME_WIDTH)}")  # fmt: skip
    if tree.event_to_category(event) in GPU and event.get("dur") is not None:
        text += f", Duration: {event['dur']}"
    return text


def _fields(tree, event, fields):
    if tree.event_to_category(event) != "cpu_op":
        return []
    args = event.get("args") or {}
    return [f"{field}: {args[field]}" for field in fields if field in args]


def print_subtree(tree, node, prune_non_gpu, cpu_op_fields, include_bwd):
    # (event, prefix, is last, is a backward call, shows backward calls below)
    pending = [(node, "", True, False, include_bwd)]
    while pending:
        event, prefix, is_last, is_backward, with_backward = pending.pop()
        connector = "└── " if is_last else "├── "
        below = prefix + ("    " if is_last else "│   ")
        children = tree.get_children_events(event)
        if is_backward:
            print(f"{prefix}{connector}[BWD] {event['name']} (UID: {event['UID']})")
        else:
            print(f"{prefix}{connector}{_described(tree, event)}")
            fields = _fields(tree, event, cpu_op_fields)
            for field in fields:
                print(f"{below}|   {field}")
            if fields:
                print(f"{below}|   ")
            if prune_non_gpu:
                children = [child for child in children if not child.get("non_gpu_path")]
        backward = []
        if with_backward:
            backward = [tree.get_UID2event(uid) for uid in event.get("bwd_events", ())]
        inside = with_backward and not is_backward
        last = len(children) + len(backward) - 1
        entries = [(child, below, at == last, False, inside) for at, child in enumerate(children)]
        entries += [(call, below, len(children) + at == last, True, False)
                    for at, call in enumerate(backward)]  # fmt: skip
        pending.extend(reversed(entries))


def print_parents(tree, node, cpu_op_fields, follow_fwd_link):
    """Returns the topmost event."""
    depth = 0
    while True:
        print("Node:" if depth == 0 else f"{depth}-up:")
        print(f"  {_described(tree, node)}")
        for field in _fields(tree, node, cpu_op_fields):
            print(f"    {field}")
        above = tree.get_parent_event(node)
        if above is None:
            break
        node, depth = above, depth + 1
    if not follow_fwd_link or node.get("fwd_event") is None:
        return node
    uid = node["fwd_event"]
    print()
    print("=" * 60)
    print(f"Following fwd_event link to forward call stack (UID: {uid})")
    print("=" * 60)
    return print_parents(tree, tree.get_UID2event(uid), cpu_op_fields, False)


def call_stack(tree, node, wanted, follow_fwd_link):
    """The node's name, then names of the calls above that contain one of `wanted`; None: all."""
    names = [node["name"]]
    above = tree.get_parent_event(node)
    while above is not None:
        name = _cut(above["name"], _STACK_NAME_WIDTH)
        if wanted is None or any(part in name for part in wanted):
            names.append(name)
        further = tree.get_parent_event(above)
        if further is None and follow_fwd_link and above.get("fwd_event") is not None:
            forward = tree.get_UID2event(above["fwd_event"])
            return [*names, "[FWD]", *call_stack(tree, forward, wanted, False)]
        above = further
    return names
