"""What changed between runs."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Sequence

from tracelens import _native
from tracelens._places import output_of
from tracelens._report import Report
from tracelens._table import Table
from tracelens._reading import opened, path_of
from tracelens._trace import Trace


class Gate(NamedTuple):
    """A limit and whether it was kept."""

    gate: str
    passed: bool
    evidence: list[str]  #: a sentence for each thing over the limit
    summary: str  #: what came closest to it, when it passed


class Comparison:
    """Reports side by side."""

    def __init__(self, native: _native.Comparison) -> None:
        self._native = native
        self.report = Report(native.report, "compare")

    @property
    def passed(self) -> bool:
        """Whether no gate failed."""
        return self._native.passed

    @property
    def gates(self) -> list[Gate]:
        return [Gate(*gate) for gate in self._native.gates]

    @property
    def conclusion(self) -> str:
        """What changed most, in sentences."""
        return self._native.conclusion

    @property
    def tables(self) -> dict[str, Table]:
        """The sheets of the comparison."""
        return self.report.tables

    @property
    def key_tables(self) -> list[Table]:
        """What a person reads first; ``what_changed`` comes first."""
        return [Table(table) for table in self._native.key_tables]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes .xlsx, .html, .md or .json by the name, or CSV files into a folder."""
        self._native.write(output_of(path))

    def save_gates(self, path: str | os.PathLike[str]) -> None:
        """Writes the outcome of the gates for a CI system: JUnit XML, or JSON."""
        self._native.write_gates(os.fspath(path))

    def __repr__(self) -> str:
        return self.conclusion or f"Comparison({', '.join(self.tables)})"

    def _repr_html_(self) -> str:
        from html import escape

        shown = "".join(table._repr_html_() for table in self.key_tables)
        return f"<p>{escape(self.conclusion)}</p>{shown}"


def compare(
    inputs: Sequence[Trace | str | os.PathLike[str]],
    *,
    names: Sequence[str] = (),
    sheets: Sequence[str] = ("all",),
    gates: Sequence[str] = (),
    edition: str = "extended",
    **report: Any,
) -> Comparison:
    """Two or more runs side by side; the first one is the baseline.

    inputs: traces of any format, or finished reports (a workbook, a folder of CSV files). gates: limits
    such as "total_time > 5%" or "op:aten::mm > 0.2ms". Further keywords are those of ``report``.

    >>> import tracelens as tl
    >>> demo = tl.demo().source.path
    >>> same = tl.compare([demo, demo], names=["base", "new"], gates=["total_time > 5%"])
    >>> same.passed
    True
    """
    return Comparison(
        _native.compare(
            [path_of(each) for each in inputs],
            names=list(names),
            sheets=list(sheets),
            gates=list(gates),
            edition=edition,
            report=report,
        )
    )


class Diff:
    """Two traces aligned call by call."""

    def __init__(self, native: _native.TraceDiff) -> None:
        self._native = native
        self.report = Report(native.report, "diff")

    @property
    def aligned(self) -> bool:
        """False: a trace has no ops; the tables compare kernels and categories."""
        return self._native.aligned

    @property
    def tables(self) -> dict[str, Table]:
        return self.report.tables

    @property
    def warnings(self) -> list[str]:
        return self.report.warnings

    @property
    def note(self) -> str:
        """What changed, as a note in Markdown."""
        return self._native.note

    @property
    def tree_text(self) -> str:
        """The merged tree."""
        return self._native.tree_text

    def save(self, path: str | os.PathLike[str]) -> None:
        """A folder gets tables, tree and note; a file the tables, or, if it ends in .md, the note."""
        self._native.write(output_of(path))

    def __repr__(self) -> str:
        return self.note.rstrip("\n")

    def _repr_markdown_(self) -> str:
        return self.note


def diff(
    base: Trace | str | os.PathLike[str],
    new: Trace | str | os.PathLike[str],
    *,
    python_frames: bool = False,
    prune_idle_roots: bool = False,
    page: bool = False,
    edition: str = "extended",
) -> Diff:
    """Two traces of the same program, aligned call by call: what became slower, faster, or another op.

    >>> import tracelens as tl
    >>> t = tl.demo()
    >>> "diff_stats" in tl.diff(t, t).tables
    True
    """
    first, second = opened(base), opened(new)
    return Diff(
        _native.diff(
            first._native,
            second._native,
            edition=edition,
            python_frames=python_frames,
            prune_idle_roots=prune_idle_roots,
            page=page,
        )
    )
