"""Activations that are computed again in the backward pass."""


def mark_recompute(tree):
    """Sets `is_recompute` on everything below torch.utils.checkpoint's recompute_fn."""
    for event in tree.events:
        name = event.get("name", "")
        if event.get("cat") != "python_function" or "recompute_fn" not in name:
            continue
        if "torch/utils/checkpoint.py" in name:
            for below in tree._subtree(event["UID"]):
                below["is_recompute"] = True
