"""GPU time of nn.Modules, written onto their events."""

from ..Trace2Tree._kinds import busy_us, is_module

_OWN = "Non-nn.Module GPU Time"


def write_module_times(tree, root):
    if not tree.add_python_func:
        raise ValueError("This method requires the trace to include Python function events.")
    if not is_module(root):
        raise ValueError("The provided root event is not an nn.Module event.")
    pending = [(root, None)]
    while pending:
        module, above = pending.pop()
        module["GPU Time"] = busy_us(tree.get_gpu_events(module))
        module["nn Parent GPU Time"] = above
        children = [tree.get_UID2event(uid) for uid in tree.get_nn_module_children(module)]
        module.pop(_OWN, None)
        if children:
            theirs = {uid for child in children for uid in child.get("gpu_events", ())}
            own = [uid for uid in module.get("gpu_events", ()) if uid not in theirs]
            if own:
                module[_OWN] = busy_us(tree.get_UID2event(uid) for uid in own)
        pending.extend((child, module["GPU Time"]) for child in reversed(children))
