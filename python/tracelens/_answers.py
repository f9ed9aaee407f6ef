"""Single questions about a trace."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Sequence

from tracelens import _models, _native
from tracelens._checks import event_number, thread_count, whole
from tracelens._compare import Gate
from tracelens._errors import UsageError, file_error
from tracelens._places import output_of
from tracelens._table import Table
from tracelens._reading import opened
from tracelens._trace import Trace


class Finding(NamedTuple):
    """One cause of lost time: what it costs, what proves it, what to try."""

    id: str
    title: str
    severity: str  #: "critical", "major", "minor" or "info"
    confidence: str  #: "high", "medium" or "low"
    verdict: str  #: a sentence; every number in it is evidence
    saving_ns: int  #: once the findings before it are mended
    saving_percent: float
    formula: str  #: how the saving was estimated
    locked_by: str  #: the finding to mend first; may be empty
    tries: list[str]  #: what to do, in order of effort
    where: list[dict[str, Any]]  #: things that are to be changed
    evidence: list[dict[str, Any]]  #: numbers that prove it, and where they stand in the tables


class Diagnosis:
    """What slows a run down, in the order in which it is best mended."""

    def __init__(self, native: _native.Diagnosis) -> None:
        self._native = native
        self.findings = [Finding(**finding) for finding in native.findings]

    @property
    def verdict(self) -> str:
        """The run in a sentence."""
        return self._native.verdict

    @property
    def quality(self) -> list[str]:
        """What is to be known about the trace before the findings are believed."""
        return self._native.quality

    @property
    def length_ns(self) -> int:
        """Of the part of the trace it is about."""
        return self._native.length_ns

    @property
    def saving_all_ns(self) -> int:
        """Of all findings together."""
        return self._native.saving_all_ns

    @property
    def tables(self) -> dict[str, Table]:
        """findings, finding_evidence, finding_places and trace_quality."""
        return {table.name: Table(table) for table in self._native.tables}

    def check(self, gates: Sequence[str]) -> list[Gate]:
        """Limits such as "saving > 10%" or "finding:SYNC-* > 2ms", and whether they are kept."""
        return [Gate(*gate) for gate in self._native.check(list(gates))]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes .json, .md, .html, .txt or .xlsx by the name, or CSV files into a folder."""
        self._native.write(output_of(path))

    def __len__(self) -> int:
        return len(self.findings)

    def __repr__(self) -> str:
        return self._native.text(100, 10).rstrip("\n")

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"


def diagnose(
    trace: Trace | str | os.PathLike[str],
    *,
    gpu: str = "",
    gpu_file: str | os.PathLike[str] = "",
    steps: str = "steady",
    min_saving_percent: float = 1,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    rules_file: str | os.PathLike[str] = "",
    link_gbps: float | None = None,
    host_gbps: float | None = None,
    corrects_overhead: bool = True,
    against: Trace | str | os.PathLike[str] | None = None,
    threads: int = 0,
) -> Diagnosis:
    """What slows a run down, what each cause costs, and what to try.

    steps: "steady", "all", or numbers such as "3-5". only, skip: ids of rules, * stands for anything.
    against: a run of the same program that shows what is possible.

    >>> import tracelens as tl
    >>> tl.diagnose(tl.demo()).findings[0].title
    'Optimizer not fused'
    """
    other = None if against is None else opened(against)
    return Diagnosis(
        _native.diagnose(
            opened(trace)._native,
            gpu=gpu,
            gpu_file=os.fspath(gpu_file),
            steps=steps,
            min_saving_percent=min_saving_percent,
            only=list(only),
            skip=list(skip),
            rules_file=os.fspath(rules_file),
            link_gbps=link_gbps,
            host_gbps=host_gbps,
            corrects_overhead=corrects_overhead,
            against=None if other is None else other._native,
            models=_models.rows_of(),
            threads=thread_count(threads),
        )
    )


class Roofline:
    """Where the ops of a trace stand against what the GPU could do."""

    def __init__(self, native: _native.Roofline, trace_name: str) -> None:
        self._native = native
        self._trace_name = trace_name
        self.table = Table(native.table())

    @property
    def gpu(self) -> str:
        return self._native.gpu

    @property
    def covered_percent(self) -> float:
        """The share of the points in the GPU time of all ops."""
        return self._native.covered_percent

    def to_pandas(self) -> Any:
        """The points as a frame."""
        return self.table.to_pandas()

    def svg(self, *, labelled: int = 12) -> str:
        """The picture: FLOPs per byte to the right, TFLOP/s up; the costliest ops have numbers."""
        return self._native.svg(self._trace_name, labelled)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture (.svg), or the table by the name of the file."""
        output = output_of(path)
        if not output.endswith(".svg"):
            self.table._native.write(output)
            return
        try:
            with open(output, "w", encoding="utf-8") as file:
                file.write(self.svg())
        except OSError as error:
            raise file_error(error) from None

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        return self.svg()


def roofline(
    trace: Trace | str | os.PathLike[str],
    *,
    gpu: str = "",
    gpu_file: str | os.PathLike[str] = "",
    achievable_peaks: bool = False,
    edition: str = "extended",
) -> Roofline:
    """One point per op and distinct arguments; shown as a picture in notebooks.

    >>> import tracelens as tl
    >>> points = tl.roofline(tl.demo(), gpu="H200")
    >>> points.gpu, len(points.table) > 10
    ('H200', True)
    """
    of = opened(trace)
    native = _native.roofline(
        of._native,
        gpu=gpu,
        gpu_file=os.fspath(gpu_file),
        achievable_peaks=achievable_peaks,
        edition=edition,
        models=_models.rows_of(),
    )
    return Roofline(native, os.path.basename(of.source.path))


def replay(
    trace: Trace | str | os.PathLike[str],
    uid: int | Sequence[int] = (),
    *,
    names: Sequence[str] = (),
    top: int | None = None,
) -> str:
    """A script that runs ops of a trace again: these calls, all of these names, or the costliest.

    >>> import tracelens as tl
    >>> t = tl.demo()
    >>> "aten::mm" in tl.replay(t, t.tree.find(name="aten::mm")[0].uid)
    True
    """
    given: Any = [uid] if isinstance(uid, str) or not hasattr(uid, "__iter__") else uid
    uids = [event_number("replay", each) for each in given]
    if top is not None:
        top = whole("top", top, "how many of the costliest ops, from 1", least=1)
    names = [names] if isinstance(names, str) else names
    if not uids and not names and top is None:
        raise UsageError("replay: expected the number of a call, names of ops, or how many of the costliest")
    return _native.replay(opened(trace)._native, uids=uids, names=list(names), top=top)
