"""Who called whom."""

from __future__ import annotations

import operator
import re
import sys
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from tracelens import _native
from tracelens._errors import UsageError
from tracelens._table import Table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tracelens._native import Node
    from tracelens._trace import Trace

LAYERS = ("modules", "python", "ops", "calls", "gpu")


class Tree:
    """The calls of a trace and the GPU work below them.

    Nodes stand in tree order, each followed by its whole subtree: the nodes below node number ``n`` are
    ``n + 1`` to ``end[n]``, so that sums over subtrees are sums over slices.

    >>> import tracelens as tl
    >>> tree = tl.demo().tree
    >>> mm = tree.find(name="aten::mm")[0]
    >>> mm.name, mm.gpu_count, [child.category for child in mm.children]
    ('aten::mm', 1, ['cuda_driver'])
    >>> sum(1 for node in tree) == len(tree)
    True
    """

    def __init__(
        self, trace: Trace, view: _native.TreeView, link_by_correlation: bool = False
    ) -> None:
        self._trace = trace
        self._view = view
        self._link_by_correlation = link_by_correlation

    # --- nodes ---
    @property
    def roots(self) -> list[Node]:
        """The calls nobody made, by time."""
        return self._view.roots()

    def __getitem__(self, uid: int) -> Node:
        """The node of an event; KeyError when the event is not in the tree."""
        node = self._view.node(uid)
        if node is None:
            raise KeyError(uid)
        return node

    def __contains__(self, uid: object) -> bool:
        try:
            return self._view.node(operator.index(uid)) is not None  # type: ignore[arg-type]
        except (TypeError, IndexError, OverflowError):
            return False

    def __iter__(self) -> Iterator[Node]:
        """Every node, callers before callees."""
        return iter(self._view)

    walk = __iter__

    def __len__(self) -> int:
        return len(self._view)

    def find(
        self,
        *,
        name: str | Sequence[str] | re.Pattern[str] | Callable[[str], object] | None = None,
        category: str | Sequence[str] | None = None,
    ) -> list[Node]:
        """The nodes of events with this name or category, in the order of the file."""
        rows = self._trace.events.where(name=name, cat=category)
        nodes = map(self._view.node, rows.tolist())
        return [node for node in nodes if node is not None]

    # --- arrays in tree order ---
    @property
    def event(self) -> npt.NDArray[np.uint32]:
        """The row of each node's event."""
        return self._view.column("event")

    @property
    def parent(self) -> npt.NDArray[np.uint32]:
        """The number of each node's parent; the largest number at a root."""
        return self._view.column("parent")

    @property
    def end(self) -> npt.NDArray[np.uint32]:
        """The number of the first node behind each node's subtree."""
        return self._view.column("end")

    @property
    def gpu_count(self) -> npt.NDArray[np.int64]:
        """How many GPU events each node's subtree launched."""
        return self._view.column("gpu_count")

    @property
    def gpu_sum_ns(self) -> npt.NDArray[np.int64]:
        """The sum of their lengths."""
        return self._view.column("gpu_sum_ns")

    # --- for people ---
    def modules(self) -> Table | None:
        """GPU time by nn.Module, the table ``modules`` of the report; None: none were recorded."""
        from tracelens._report import one_table

        return one_table(self._trace, "modules", link_by_correlation=self._link_by_correlation)

    def print(
        self,
        node: Node | None = None,
        *,
        depth: int | None = None,
        layers: Sequence[str] = LAYERS,
        file: Any = None,
    ) -> None:
        """Prints the tree, or what is below a node, with the GPU time of each call in µs.

        layers: which kinds of calls: modules, python, ops, calls (of the runtime), gpu. Calls without
        GPU work are left out, except below a node.
        """
        if unknown := set(layers) - set(LAYERS):
            raise UsageError(f"{unknown.pop()}: expected layers among {', '.join(LAYERS)}")
        out = sys.stdout if file is None else file
        if node is None:
            out.write(self._view.text(list(layers), depth=-1 if depth is None else depth))
            return
        for line in _lines(node, depth, layers):
            out.write(line + "\n")

    def __str__(self) -> str:
        return self._view.text(list(LAYERS), summary=True, width=100).rstrip("\n")

    def __repr__(self) -> str:
        return f"Tree({len(self):,} nodes, {len(self.roots):,} roots)"


def _lines(top: Node, depth: int | None, layers: Sequence[str]) -> Iterator[str]:
    open_nodes: list[tuple[Node, int]] = [(top, 0)]
    while open_nodes:
        node, level = open_nodes.pop()
        shown = node is top or _layer(node) in layers
        if shown:
            yield f"{'  ' * level}{node.name} ({node.gpu_time_ns / 1000:.2f})"
        below = level + 1 if shown else level
        if depth is None or below < depth:
            open_nodes += [(child, below) for child in reversed(node.children)]


def _layer(node: Node) -> str:
    if node.is_module:
        return "modules"
    if node.is_op:
        return "ops"
    category = node.category
    if category == "python_function":
        return "python"
    if category in ("kernel", "gpu_memcpy", "gpu_memset"):
        return "gpu"
    return "ops" if category == "user_annotation" else "calls"
