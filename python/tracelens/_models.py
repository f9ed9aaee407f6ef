"""Models, tables and kernel rules of one's own, which every report made afterwards knows."""

from __future__ import annotations

import contextlib
import json
import operator
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

from tracelens import _native
from tracelens._errors import NoModel, ReadError, UsageError, file_error
from tracelens._table import Column, Table, table_of_rows

if TYPE_CHECKING:
    from tracelens._trace import Trace


class Call(NamedTuple):
    """One call of an op, as a model sees it."""

    name: str
    dims: tuple[Any, ...]  #: the shape of each argument; () for what is no tensor
    dtypes: tuple[Any, ...]  #: as traced: "c10::BFloat16"
    strides: tuple[Any, ...] | None
    concrete: tuple[Any, ...] | None
    kernels: list[str]  #: names of the kernels it launched; only for models that ask ``per_call``
    element_bytes: list[float | None]  #: of each argument; None: not known

    def elem(self, argument: int) -> float:
        """The bytes of one element of an argument; NoModel when its type is not known."""
        known = self.element_bytes
        size = known[argument] if argument < len(known) else None
        if size is None:
            raise NoModel(f"the element size of argument {argument} is not known")
        return size


class Work(NamedTuple):
    """What a call costs.

    ``compute`` is the unit that does it, "matrix" or "vector", or one of the GPU's peaks such as
    "matrix_bf16"; empty: by the category. ``params`` become columns ``param: M`` of the op's sheet.
    """

    flops: float
    bytes: float | None = None
    compute: str = ""
    params: Mapping[str, Any] = {}


Model = Callable[[Call], Work]

_PRECISIONS = {
    "double": "fp64",
    "float": "fp32",
    "c10::half": "fp16",
    "c10::bfloat16": "bf16",
    "c10::float8_e4m3fn": "fp8",
    "c10::float8_e4m3fnuz": "fp8",
    "c10::float8_e5m2": "fp8",
    "c10::float8_e5m2fnuz": "fp8",
    "signed char": "int8",
}


class OpModel(NamedTuple):
    """A model for an op, or for all ops whose name a regular expression is found in."""

    function: Model
    op: str | None
    pattern: str | None
    category: str
    sheet: str
    per_call: bool

    def _asked(self, name: str, dims: Any, types: Any, strides: Any, concrete: Any,
               kernels: list[str], element_bytes: list[float | None]) -> Any:
        """What the core asks: numbers, or why there are none; see native/models.cpp."""
        call = Call(name, dims or (), types or (), strides, concrete, kernels, element_bytes)
        try:
            work = self.function(call)
            return (float(work.flops), None if work.bytes is None else float(work.bytes),
                    _compute_spec(work.compute, call.dtypes), list(work.params.items()))
        except NoModel as why:
            return str(why) or "the model does not say"
        except Exception as error:
            place = _place_of(error)
            reason = f"{type(error).__name__}: {error}"
            return (f"the model of {name} failed for Input Dims {dims}: {reason} ({place})", reason)

    def _row(self) -> tuple[Any, ...]:
        """As the core takes it, with a memory of its own: one answer for equal arguments."""
        answers: dict[str, Any] = {}

        def asked_once(*call: Any) -> Any:
            key = repr(call[:5])  # without the kernels
            if key not in answers:
                answers[key] = self._asked(*call)
            return answers[key]

        asked = self._asked if self.per_call else asked_once
        return (self.op, self.pattern, self.category, self.sheet, self.per_call, asked)


def _compute_spec(compute: str, dtypes: Sequence[Any]) -> str:
    if compute not in ("matrix", "vector"):
        return compute
    for dtype in dtypes:
        if isinstance(dtype, str) and (precision := _PRECISIONS.get(dtype.lower())):
            return f"{compute}_{precision}"
    return ""


def _place_of(error: BaseException) -> str:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    return f"{os.path.basename(last.filename)}, line {last.lineno}"


class _OpModels:
    """The decorator ``tl.op_model``; ``tl.op_model.registry`` has what it registered."""

    def __init__(self) -> None:
        self.registry: list[OpModel] = []

    def __call__(
        self,
        op: str | None = None,
        *,
        pattern: str | None = None,
        category: str = "other",
        sheet: str = "",
        per_call: bool = False,
    ) -> Callable[[Model], Model]:
        """Registers a function as the model of an op, for every report of this process.

        op: its name; or pattern: a regular expression for several. category: how the op is listed.
        sheet: the family of sheets it joins, such as "GEMM"; by default that of the category.
        The function is called with a ``tl.Call`` once per distinct arguments, or for each call if
        ``per_call``, and returns a ``tl.Work``. What it raises is told in the report: ``tl.NoModel`` as the
        reason in place of the numbers, anything else as a warning as well. A second model for the same op
        takes the place of the first.

        >>> import tracelens as tl
        >>> @tl.op_model("my::scale", category="elementwise")
        ... def scale(call):
        ...     n = 1
        ...     for size in call.dims[0]:
        ...         n *= size
        ...     return tl.Work(flops=n, bytes=2 * n * call.elem(0))
        >>> tl.model("my::scale", dims=[(8, 4)], dtypes=["float"]).cells("FLOPs")
        [32]
        >>> tl.op_model.registry.clear()
        """
        if (op is None) == (pattern is None):
            raise UsageError("op_model: expected the name of an op, or a pattern")

        def register(function: Model) -> Model:
            made = OpModel(function, op, pattern, category, sheet, per_call)
            self.registry[:] = [m for m in self.registry if m[1:3] != made[1:3]] + [made]
            return function

        return register


op_model = _OpModels()


class _OwnTable(NamedTuple):
    name: str
    columns: list[Column]
    rows: Callable[[Trace], Iterable[Sequence[Any]]]
    description: str
    after: str


class _Tables:
    """The decorator ``tl.table``."""

    def __init__(self) -> None:
        self.registry: list[_OwnTable] = []

    def __call__(
        self, name: str, *, columns: Sequence[Column], description: str = "", after: str = ""
    ) -> Callable[[Callable[[Trace], Iterable[Sequence[Any]]]], Any]:
        """Registers a function that gives the rows of a table, for every report of this process.

        The function is called with the trace. after: the table behind which it stands; by default it is
        the last. What the function raises becomes a warning of the report.

        >>> import tracelens as tl
        >>> @tl.table("longest", columns=[tl.Column("name", "text"), tl.Column("us", "real", "µs")])
        ... def longest(t):
        ...     rows = t.events.where(cat="kernel", longer_than_ns=50_000)
        ...     return [(t.events[row].name, t.events[row].dur_ns / 1000) for row in rows]
        >>> len(tl.report(tl.demo())["longest"]) > 0
        True
        >>> tl.table.registry.clear()
        """

        def register(function: Callable[[Trace], Iterable[Sequence[Any]]]) -> Any:
            made = _OwnTable(name, [Column(*c) for c in columns], function, description, after)
            self.registry[:] = [t for t in self.registry if t.name != name] + [made]
            return function

        return register


table = _Tables()


class _KernelRules:
    """The function ``tl.kernel_rule``."""

    def __init__(self) -> None:
        self.registry: list[tuple[str, str]] = []

    def __call__(self, pattern: str, category: str) -> None:
        """Kernels whose name this regular expression (RE2) is found in do this kind of work.

        For kernels that no op tells about. Rules registered first are asked first, and all of them before
        those of TraceLens.
        """
        self.registry.append((pattern, category))


kernel_rule = _KernelRules()


def rows_of(models: Sequence[OpModel] | None = None) -> list[tuple[Any, ...]]:
    """What the core takes: the models given, or those registered."""
    return [model._row() for model in (op_model.registry if models is None else models)]


def own_tables(trace: Trace) -> tuple[list[tuple[_native.Table, str]], list[str]]:
    """The registered tables of a trace, each with the table it stands after, and what went wrong."""
    made: list[tuple[_native.Table, str]] = []
    warnings: list[str] = []
    for own in table.registry:
        try:
            rows = own.rows(trace)
            made.append((table_of_rows(own.name, own.columns, rows, own.description)._native,
                         own.after))
        except Exception as error:
            warnings.append(
                f"the table {own.name} failed: {type(error).__name__}: {error} ({_place_of(error)})"
            )
    return made, warnings


@contextlib.contextmanager
def kernel_rules_file(given: str) -> Iterator[str]:
    """A file of the registered rules in front of those of the given file, while it is needed."""
    if not kernel_rule.registry:
        yield given
        return
    mine: dict[str, Any] = {
        "rules": [{"category": c, "pattern": p} for p, c in kernel_rule.registry]
    }
    if given:
        try:
            with open(given, encoding="utf-8") as file:
                theirs = json.load(file)
        except OSError as error:
            raise file_error(error) from None
        except ValueError as error:
            raise ReadError(f"{given}: {error}") from None
        mine = {**theirs, "rules": mine["rules"] + theirs.get("rules", [])}
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(mine, file)
        file.flush()
        yield file.name


def model(
    op: str,
    *,
    dims: Sequence[Any],
    dtypes: str | Sequence[str] = "",
    strides: Sequence[Any] | None = None,
    concrete: Sequence[Any] | None = None,
    gpu: str = "",
    backward: bool = False,
    edition: str = "extended",
) -> Table:
    """What a call of an op costs, without a trace: a table of one row.

    dims: the shape of each argument. dtypes: "bf16", "c10::BFloat16" ..., for all tensors or one each.
    gpu: whose best time is asked for as well.

    >>> import tracelens as tl
    >>> answer = tl.model("aten::mm", dims=[(4096, 8192), (8192, 1024)], dtypes=["bf16"] * 2)
    >>> answer.cells("FLOPs")[0] == 2 * 4096 * 8192 * 1024
    True
    """
    names = [dtypes] if isinstance(dtypes, str) else list(dtypes)
    same = len(set(names)) == 1
    return Table(
        _native.model(
            op,
            dims=_json(dims),
            dtype=names[0] if same else "",
            types="" if same or not names else json.dumps(names),
            strides="" if strides is None else _json(strides),
            concrete="" if concrete is None else _json(concrete),
            gpu=gpu,
            backward=backward,
            edition=edition,
            models=rows_of(),
        )
    )


def _json(values: Any) -> str:
    return json.dumps(values, default=operator.index)  # NumPy's integers


def known_models(*, family: str = "", edition: str = "extended") -> Table:
    """Every op that has a model or a category of its own; of one family of sheets, or all.

    >>> "aten::mm" in known_models(family="GEMM").cells("op")
    True
    """
    return Table(_native.known_models(edition, family))
