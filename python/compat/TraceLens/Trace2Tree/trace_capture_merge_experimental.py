"""Replayed graphs with the ops of their capture: by the core, from a folder of captures."""

import os

from .trace_to_tree import TraceToTree


def find_closest_batch_size(batch_size, capture_batch_sizes):
    """The smallest captured size that has room for a batch; None without one."""
    return min((size for size in capture_batch_sizes if size >= batch_size), default=None)


def merge_capture_trace_into_graph(capture_folder, metadata_json_path, graph_trace_path):
    """The built tree of a trace whose graph launches have the ops of their captures below them.

    `metadata_json_path`: the folder's execution_details.json, whether it is there or not.
    """
    folder = os.path.abspath(os.fspath(capture_folder))
    if metadata_json_path is not None:
        given = os.path.abspath(os.fspath(metadata_json_path))
        if given != os.path.join(folder, "execution_details.json"):
            raise ValueError(f"{given}: expected execution_details.json in the folder of the captures, {folder}")
    tree = TraceToTree.from_file(os.fspath(graph_trace_path), captures=folder)
    tree.capture_folder = folder
    tree.build_tree(add_python_func=True)
    return tree
