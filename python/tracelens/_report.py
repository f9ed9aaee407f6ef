"""The report of a trace: many tables, or one of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence

from tracelens import _native
from tracelens._checks import thread_count
from tracelens._errors import UsageError
from tracelens._places import output_of
from tracelens._table import Table

if TYPE_CHECKING:
    from tracelens._models import OpModel
    from tracelens._trace import Trace


class Report(Mapping[str, Table]):
    """Tables in order, by name.

    >>> import tracelens as tl
    >>> r = tl.report(tl.demo())
    >>> "ops_summary" in r, list(r)[0]
    (True, 'gpu_timeline')
    """

    def __init__(
        self,
        native: _native.Report,
        verb: str = "report",
        with_page: Callable[[], _native.Report] | None = None,
        warnings: Sequence[str] = (),
        with_events: Callable[[_native.Report, str], None] | None = None,
    ) -> None:
        self._native = native
        self._verb = verb
        self._with_page = with_page
        self._with_events = with_events
        self._warnings = list(warnings)
        self._tables = {table.name: Table(table) for table in native.tables}

    @property
    def title(self) -> str:
        return self._native.title

    @property
    def trace_name(self) -> str:
        """The file it is about."""
        return self._native.trace_name

    @property
    def gpu(self) -> str:
        """Whose figures the roofline columns use; may be empty."""
        return self._native.gpu

    @property
    def edition(self) -> str:
        return self._native.edition

    @property
    def warnings(self) -> list[str]:
        """Sentences about what the report had to make do with."""
        return self._native.warnings + self._warnings

    @property
    def tables(self) -> dict[str, Table]:
        """The same as a plain dict."""
        return dict(self._tables)

    def __getitem__(self, name: str) -> Table:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes .xlsx, .html, .md, .json or .db by the name, or CSV files into a folder.

        A .db is a SQLite file of the tables and, while the report knows its trace, of every event; a
        report that was unpickled has its tables alone.
        """
        output = output_of(path)
        native = self._native
        if output.endswith((".html", ".htm")) and not native.has_page and self._with_page:
            native = self._with_page()  # with the timeline and trees that only a page shows
        if output.endswith(".db") and self._with_events:
            self._with_events(native, output)
        else:
            native.write(output, self._verb)

    def __repr__(self) -> str:
        overview = self._native.overview_text(100)
        if overview:
            return overview.rstrip("\n")
        return f"Report({self.trace_name!r}, {len(self)} tables: {', '.join(self)})"

    def _repr_html_(self) -> str:
        from tracelens._html import report_html

        return report_html(self._native, self._verb)

    def __reduce__(self) -> tuple[Any, ...]:
        about = (self.title, self.trace_name, self.gpu, self.warnings, self.edition)
        return (_restored, (about, list(self._tables.values()), self._verb))


def _restored(
    about: tuple[str, str, str, list[str], str], tables: list[Table], verb: str
) -> Report:
    return Report(_native.report_of(*about, [table._native for table in tables]), verb)


def report(
    trace: Trace | str | os.PathLike[str],
    *,
    tables: Sequence[str] = (),
    also: Sequence[str] = (),
    without: Sequence[str] = (),
    gpu: str = "",
    gpu_file: str | os.PathLike[str] = "",
    gpu_from_trace: bool = True,
    achievable_peaks: bool = False,
    models: Sequence[OpModel] | None = None,
    models_file: str | os.PathLike[str] = "",
    category_of: Callable[[str, str | None], str | None] | None = None,
    kernel_rules_file: str | os.PathLike[str] = "",
    include_unlinked: bool = False,
    link_by_correlation: bool = False,
    micro_idle_us: int | None = None,
    recompute: bool = False,
    views: Sequence[str] = (),
    by_process: bool = False,
    overview: bool = True,
    page: bool = False,
    inference: bool = False,
    call_stack: bool = False,
    group_by_kernel_count: bool = False,
    group_by_module: bool = False,
    first_occurrence: bool = False,
    short_kernel_us: float = 10,
    histogram_bins: int = 100,
    top_short_kernels: int | None = None,
    top_ops: int | None = None,
    sequences_of: str = "",
    sequences_as_hta: bool = False,
    memory_timeline_file: str | os.PathLike[str] = "",
    op_keywords: Sequence[str] = (),
    most_rows: int | None = None,
    edition: str = "extended",
    threads: int = 0,
) -> Report:
    """The performance report of a trace; the keywords are the flags of ``tracelens report``.

    tables, also, without: names or groups of tables, as ``tl.table_list()`` has them: exactly these;
    those made on request as well; not these. gpu, gpu_file: whose peaks the roofline columns use.
    models: op models to ask instead of those registered with ``tl.op_model``. category_of: the category
    of an op by its name and that of the first kernel it launches; None: as without it. most_rows: of a
    JAX profile, tables with a row for each kernel are not made with more than these. edition:
    "reference" gives exactly what the Python TraceLens knows and does.

    >>> import tracelens as tl
    >>> r = tl.report(tl.demo(), gpu="H200", micro_idle_us=5, tables=["gpu_timeline"])
    >>> "micro_idle_time" in r["gpu_timeline"].cells("type")
    True
    """
    from tracelens import _models
    from tracelens._reading import opened

    if isinstance(tables, str) or isinstance(also, str) or isinstance(without, str):
        raise UsageError("tables, also, without: expected a list of names, not one text")
    if category_of is not None and not callable(category_of):
        raise UsageError("category_of: expected a function of an op and its first kernel")
    options: dict[str, Any] = dict(
        tables=list(tables), also=list(also), without=list(without), gpu=gpu,
        gpu_file=os.fspath(gpu_file), gpu_from_trace=gpu_from_trace,
        achievable_peaks=achievable_peaks, models_file=os.fspath(models_file),
        kernel_rules_file=os.fspath(kernel_rules_file), include_unlinked=include_unlinked,
        link_by_correlation=link_by_correlation, micro_idle_us=micro_idle_us, recompute=recompute,
        views=list(views), by_process=by_process, overview=overview, page=page, inference=inference,
        call_stack=call_stack, group_by_kernel_count=group_by_kernel_count,
        group_by_module=group_by_module, first_occurrence=first_occurrence,
        short_kernel_us=short_kernel_us, histogram_bins=histogram_bins,
        top_short_kernels=top_short_kernels, top_ops=top_ops, sequences_of=sequences_of,
        sequences_as_hta=sequences_as_hta,
        memory_timeline_file=os.fspath(memory_timeline_file), op_keywords=list(op_keywords),
        most_rows=most_rows, edition=edition, threads=thread_count(threads),
    )
    of = opened(trace)

    def made(with_page: bool) -> tuple[_native.Report, list[str]]:
        rows = _models.rows_of(models)
        own, warnings = _models.own_tables(of)
        with _models.kernel_rules_file(options["kernel_rules_file"]) as rules:
            chosen = {**options, "page": with_page, "kernel_rules_file": rules}
            return _native.report(of._native, chosen, rows, own, category_of), warnings

    def write_events(made: _native.Report, output: str) -> None:
        with _models.kernel_rules_file(options["kernel_rules_file"]) as rules:
            made.write_database(of._native, {**options, "kernel_rules_file": rules}, output)

    native, warnings = made(page)
    return Report(native, "report", lambda: made(True)[0], warnings, write_events)


def one_table(trace: Trace | str | os.PathLike[str], name: str, **options: Any) -> Table | None:
    """One table of the report by its name, and nothing else computed; keywords as of ``report``.

    None when the trace does not have what it takes: modules, steps, several GPUs ...
    """
    from tracelens._reading import opened

    native = _native.table(opened(trace)._native, name, options)
    return None if native is None else Table(native)


def timeline(
    trace: Trace | str | os.PathLike[str],
    *,
    micro_idle_us: int | None = None,
    include_unlinked: bool = False,
) -> Table:
    """What the GPU's time went to.

    >>> import tracelens as tl
    >>> tl.timeline(tl.demo()).cells("type")[0]
    'computation_time'
    """
    options = dict(micro_idle_us=micro_idle_us, include_unlinked=include_unlinked)
    return _needed(one_table(trace, "gpu_timeline", **options), "gpu_timeline")


def ops(trace: Trace | str | os.PathLike[str]) -> Table:
    """GPU time by op, the costliest first.

    >>> import tracelens as tl
    >>> "aten::mm" in tl.ops(tl.demo()).cells("name")
    True
    """
    return _needed(one_table(trace, "ops_summary"), "ops_summary")


def unique_ops(trace: Trace | str | os.PathLike[str]) -> Table:
    """GPU time by op and arguments, the costliest first."""
    return _needed(one_table(trace, "ops_unique_args"), "ops_unique_args")


def launchers(
    trace: Trace | str | os.PathLike[str],
    *,
    communication: bool = False,
    include_unlinked: bool = False,
    kernels: bool = False,
    modules: bool = False,
    ids: bool = False,
    start: bool = False,
) -> Table:
    """A row for each call that launched GPU work, by time: its own kernels and those below it.

    kernels, modules, ids, start: further columns.

    >>> import tracelens as tl
    >>> rows = tl.launchers(tl.demo())
    >>> rows.cells("name")[0].startswith("aten::")
    True
    """
    rows = _rows(trace, communication=communication, include_unlinked=include_unlinked)
    return Table(rows.launchers(start=start, ids=ids, kernels=kernels, modules=modules))


def kernels(
    trace: Trace | str | os.PathLike[str],
    *,
    include_unlinked: bool = False,
    launch: bool = False,
    module: bool = False,
) -> Table:
    """A row for each kernel, with the op that launched it.

    launch, module: further columns.
    """
    rows = _rows(trace, communication=True, include_unlinked=include_unlinked)
    return Table(rows.kernels(launch=launch, module=module))


def unified(
    trace: Trace | str | os.PathLike[str],
    *,
    include_unlinked: bool = False,
    kernels: bool = True,
    call_stacks: bool = False,
) -> Table:
    """A row for each op with GPU work that a model knows, or that is the lowest one: work and rates."""
    rows = _rows(trace, communication=True, include_unlinked=include_unlinked)
    return Table(rows.unified(kernels=kernels, call_stacks=call_stacks))


def _rows(trace: Trace | str | os.PathLike[str], **options: Any) -> _native.Rows:
    from tracelens._reading import opened

    return _native.Rows(opened(trace)._native.tree(), reference=False, **options)


def _needed(table: Table | None, name: str) -> Table:
    if table is None:
        raise UsageError(f"{name}: the trace has nothing to fill this table with")
    return table


def table_list() -> Table:
    """Every table there is: its name, what it says, for which traces, when it is made.

    >>> "ops_summary" in table_list().cells("table")
    True
    """
    return Table(_native.table_list())
