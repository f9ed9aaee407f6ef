"""nn.Modules of the tree: who is inside whom."""

from ._kinds import is_module


def module_children(tree, event):
    """UIDs of the nearest modules below, in order of their calls; kept on the event."""
    if "nn_module_children" in event:
        return event["nn_module_children"]
    found = []
    pending = list(reversed(tree.get_children_events(event)))
    while pending:
        below = pending.pop()
        if is_module(below):
            found.append(below["UID"])
            below["nn_module_parent"] = event["UID"]
        else:
            pending.extend(reversed(tree.get_children_events(below)))
    event["nn_module_children"] = found
    return found


def module_parent(tree, event):
    """UID of the nearest module above, None at the top; kept on the event."""
    if "nn_module_parent" in event:
        return event["nn_module_parent"]
    above = tree.get_parent_event(event)
    while above is not None and not is_module(above):
        above = tree.get_parent_event(above)
    event["nn_module_parent"] = None if above is None else above["UID"]
    return event["nn_module_parent"]
