"""Tables of the core as pandas frames, with the types that pandas itself would find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    import pandas as pd

    from tracelens import _native


def frame(
    table: _native.Table,
    *,
    none_is_object: bool = False,
    nullable: bool | Callable[[str], bool] = False,
) -> pd.DataFrame:
    """A table of ``_native`` as a frame with a default index.

    Integers with a gap become float64, truth values with one become object; nested cells are tuples,
    lists and dicts, and equal ones are one object. ``none_is_object``: a column of numbers without a
    single one is of type object and holds None, as a frame made from dictionaries has it; otherwise it
    is float64. ``nullable``: integers with gaps are pandas' Int64 instead, truth values boolean; or, by the
    name of the column, which integers are Int64, with gaps or without.
    ``frame.attrs["units"]`` has the unit of each column that has one.
    """
    import pandas as pd

    columns = table.columns
    data = {
        place: _numbers(table, place, kind, name, none_is_object, nullable) if cells is None else cells
        for place, ((name, kind, _, _), cells) in enumerate(zip(columns, table.object_columns()))
    }
    made = pd.DataFrame(data, index=pd.RangeIndex(len(table)), copy=False)
    made.columns = pd.Index([name for name, _, _, _ in columns], dtype=object)
    made.attrs["units"] = {name: unit for name, _, unit, _ in columns if unit}
    return made


def _numbers(
    table: _native.Table,
    place: int,
    kind: str,
    name: str,
    none_is_object: bool,
    nullable: bool | Callable[[str], bool],
) -> Any:
    import numpy as np
    import pandas as pd

    values = table.values(place)
    present = table.present(place).view(np.bool_)
    if callable(nullable):
        if kind == "integer" and nullable(name):
            return pd.arrays.IntegerArray(values.copy(), ~present)
        nullable = False
    if none_is_object and len(present) and not present.any():
        return np.full(len(present), None, dtype=object)
    if kind == "real":
        return values.copy()  # missing cells are NaN already
    if kind == "integer":
        if present.all():
            return values.copy()
        if nullable:
            return pd.arrays.IntegerArray(values.copy(), ~present)
        return np.where(present, values.astype(np.float64), np.nan)
    truth = values.astype(np.bool_)
    if present.all():
        return truth
    if nullable:
        return pd.arrays.BooleanArray(truth, ~present)
    cells = truth.astype(object)
    cells[~present] = None
    return cells
