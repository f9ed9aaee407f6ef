"""TraceDiff: the call trees of two traces laid over each other, and where they part."""

import json
import os

import pandas as pd

from .._chatter import chat
from . import _tables
from ._merged_text import is_on_gpu_path, lines_of
from ._native_tree import native_tree

_NO_ROOTS = "Both trees must have at least one root node in cpu_root_nodes."


def _say(text):
    chat(f"[TraceDiff] {text}")


class TraceDiff:
    """`TraceDiff(tree1, tree2)`; then `generate_tracediff_report()` fills the tables."""

    def __init__(self, tree1, tree2):
        self.baseline, self.variant = tree1, tree2
        self.db1, self.db2 = tree1, tree2
        self.diff_stats_df = pd.DataFrame()
        self.diff_stats_unique_args_summary_df = pd.DataFrame()
        self.cpu_op_map, self.cpu_op_map_trace1, self.cpu_op_map_trace2 = {}, {}, {}
        self.identical_traces = False
        self.merge_trees()

    # --- merging ---

    def merge_trees(self):
        from tracelens import Error, _native

        if not self.baseline.cpu_root_nodes or not self.variant.cpu_root_nodes:
            raise ValueError(_NO_ROOTS)
        _say("Calculating trace diff and creating merged tree...")
        first, self._uids1 = native_tree(self.baseline)
        second, self._uids2 = native_tree(self.variant)
        try:
            self._merged = _native.merge_trees(first, second)
        except Error as error:
            raise ValueError(_NO_ROOTS) from error
        self.merged_uid_map = self._with_own_uids(self._merged.uid_map)
        self.merged_tree = (self._nodes(), list(self._merged.roots))
        self._node_of = ({}, {})
        for node in self.merged_tree[0]:
            for side, uid in enumerate((node["uid1"], node["uid2"])):
                if uid is not None:
                    self._node_of[side][uid] = node["merged_id"]

    def _with_own_uids(self, uid_map):
        if self._uids1 is None and self._uids2 is None:
            return uid_map
        sides = {1: self._uids1, 2: self._uids2}

        def own(side, row):
            return row if row < 0 or sides[side] is None else sides[side][row]

        return {(side, own(side, row)): own(3 - side, other) for (side, row), other in uid_map.items()}

    def _nodes(self):
        table = self._merged.nodes
        columns = [column[0] for column in table.columns]

        def cells(name, uids=None):
            place = columns.index(name)
            values, present = table.values(place), table.present(place)
            return [None if not there else int(value) if uids is None else uids[value]
                    for value, there in zip(values.tolist(), present.tolist())]  # fmt: skip

        uid1, uid2 = cells("uid1", self._uids1), cells("uid2", self._uids2)
        met1, met2 = cells("met_uid1", self._uids1), cells("met_uid2", self._uids2)
        kinds, children = (table.values(columns.index(c)) for c in ("merged_type", "children"))
        return [
            {"merged_id": number, "uid1": uid1[number], "uid2": uid2[number],
             "merged_type": kinds[number], "children": list(children[number]),
             "nn_module_stack": self._modules(met1[number], met2[number])}
            for number in range(len(table))
        ]  # fmt: skip

    def _modules(self, uid1, uid2):
        tree, uid = (self.baseline, uid1) if uid1 is not None else (self.variant, uid2)
        return tree.get_UID2event(uid).get("nn_module_stack", []) if uid is not None else []

    def get_corresponding_uid(self, tree, uid):
        """The UID in the other trace; -1 when it has none. `tree`: 1 or 2, or the tree itself."""
        side = 1 if tree in (1, "trace1") or tree is self.baseline else 2
        return self.merged_uid_map.get((side, uid), -1)

    # --- tables ---

    def generate_tracediff_report(self):
        from tracelens._frames import frame

        if self._merged.diff_stats is None or not len(self._merged.diff_stats):
            print("[TraceDiff] No GPU events found in either trace")
            self.identical_traces = True
            return
        self.diff_stats_df = self._frame(frame(self._merged.diff_stats))
        self.diff_stats_unique_args_summary_df = self._frame(frame(self._merged.summary))
        self.identical_traces = "source" not in self.diff_stats_df.columns
        self.cpu_op_map_trace1 = _tables.op_map(self._merged.op_map_trace1)
        self.cpu_op_map_trace2 = _tables.op_map(self._merged.op_map_trace2)
        self.cpu_op_map = _tables.op_map(self._merged.op_map)

    def _frame(self, made):
        made.attrs = {}
        sides = {"trace1": self._uids1, "trace2": self._uids2}
        if all(uids is None for uids in sides.values()):
            return made
        sources = made["source"].tolist() if "source" in made.columns else ["trace1"] * len(made)
        for column in ("cpu_op_uid", "gpu_op_uid"):
            if column in made.columns:
                made[column] = [uid if sides[source] is None else sides[source][uid]
                                for source, uid in zip(sources, made[column].tolist())]  # fmt: skip
        return made

    def get_diff_stats_df(self):
        """The table; None, and a line that says so, before the report was generated."""
        if self.diff_stats_df.empty:
            print("[TraceDiff] diff_stats_df is empty. Run generate_tracediff_report() first.")
            return None
        return self.diff_stats_df

    def get_df_diff_stats_unique_args(self, op_name=None, agg_metrics=("mean",)):
        if self.diff_stats_df.empty:
            print("[TraceDiff] diff_stats_df is empty. Run generate_tracediff_report() first.")
            return None
        return _tables.unique_args(self.diff_stats_df, op_name, agg_metrics)

    @property
    def diff_stats_names_summary_df(self):
        """diff_stats summed by the call that both traces have, and by trace."""
        return _tables.by_ancestor(self.diff_stats_df)

    # --- text ---

    def print_merged_subtree(self, uid_tree1=None, uid_tree2=None):
        if uid_tree1 is None and uid_tree2 is None:
            raise ValueError("At least one of uid_tree1 or uid_tree2 must be provided.")
        found = self._node_of[0].get(uid_tree1)
        if found is None:
            found = self._node_of[1].get(uid_tree2)
        if found is None:
            raise ValueError("Could not find merged node for the given UID.")
        for line in lines_of(self, [found]):
            print(line)

    def print_merged_tree(self, output_file, prune_non_gpu=False):
        nodes, roots = self.merged_tree
        if prune_non_gpu:
            roots = [root for root in roots if is_on_gpu_path(self, nodes[root])]
        with open(output_file, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines_of(self, roots))

    def print_tracediff_report_files(self, output_folder="rprt_diff", prune_non_gpu=False):
        """The merged tree, the tables and the maps of ops as files of a folder."""
        os.makedirs(output_folder, exist_ok=True)
        self.print_merged_tree(os.path.join(output_folder, "merged_tree_output.txt"), prune_non_gpu)
        tables = {"diff_stats": self.diff_stats_df,
                  "diff_stats_unique_args_summary": self.diff_stats_unique_args_summary_df}  # fmt: skip
        for name, table in tables.items():
            if table.empty:
                print(f"[TraceDiff] {name}_df is empty. Run generate_tracediff_report() first.")
            else:
                table.to_csv(os.path.join(output_folder, f"{name}.csv"), index=False)
        if self.diff_stats_df.empty:
            return
        for name in ("cpu_op_map_trace1", "cpu_op_map_trace2", "cpu_op_map"):
            with open(os.path.join(output_folder, f"{name}.json"), "w", encoding="utf-8") as file:
                json.dump(getattr(self, name), file, indent=2, ensure_ascii=False)
