"""The merged tree of two traces as text."""

_ORDER = {"combined": 0, "trace1": 1, "trace2": 2}


def _name(tree, uid):
    return tree.get_UID2event(uid).get("name") or str(uid)


def label_of(diff, node):
    if node["merged_type"] == "trace1":
        return f">> trace1: {_name(diff.baseline, node['uid1'])}"
    if node["merged_type"] == "trace2":
        return f"<< trace2: {_name(diff.variant, node['uid2'])}"
    first, second = _name(diff.baseline, node["uid1"]), _name(diff.variant, node["uid2"])
    return first if first == second else f"combined: {first} | {second}"


def lines_of(diff, roots):
    """One line per node: what both traces have first, then what either has alone."""
    nodes = diff.merged_tree[0]
    pending = [(root, "", at == 0) for at, root in enumerate(reversed(roots))]
    while pending:
        number, prefix, is_last = pending.pop()
        node = nodes[number]
        yield prefix + ("└── " if is_last else "├── ") + label_of(diff, node)
        below = prefix + ("    " if is_last else "│   ")
        children = sorted(node["children"], key=lambda child: _ORDER[nodes[child]["merged_type"]])
        pending.extend((child, below, at == 0) for at, child in enumerate(reversed(children)))


def is_on_gpu_path(diff, node):
    sides = ((diff.baseline, node["uid1"]), (diff.variant, node["uid2"]))
    return any(uid is not None and not tree.get_UID2event(uid).get("non_gpu_path") for tree, uid in sides)
