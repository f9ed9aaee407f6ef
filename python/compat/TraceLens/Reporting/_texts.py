"""Cells that the reports have as texts, where the core's tables have values."""

import numpy as np
import pandas as pd

from ..PerfModel.torch_op_mapping import resolve_perf_model_class
from ..TreePerf._groups import texts

_ARGUMENTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


def with_texts(sheets):
    """The sheets of a PyTorch report: parameters of models and call stacks are printed values."""
    for sheet in sheets.values():
        parameters = [column for column in sheet.columns if column.startswith("param: ")]
        names = _Parameters(sheet) if parameters else None
        for column in parameters:
            sheet[column] = texts(pd.Series(names.cells(column)))
        if parameters and "num_kernels" in sheet.columns:
            sheet["num_kernels"] = texts(sheet["num_kernels"])
        if "call_stack_full" in sheet.columns:
            sheet["call_stack_full"] = texts(sheet["call_stack_full"])
    return sheets


class _Parameters:
    """The parameters of a sheet's rows; which of them a row's model has is found by asking the model once per op."""

    def __init__(self, sheet):
        self._sheet = sheet
        self._known = {}

    def cells(self, column):
        """None where the model says that it does not know, NaN where it has no such parameter."""
        cells = self._sheet[column].astype(object).tolist()
        for row in np.flatnonzero(self._sheet[column].isna().to_numpy()).tolist():
            cells[row] = None if column.removeprefix("param: ") in self._names(row) else np.nan
        return cells

    def _names(self, row):
        name = self._sheet["name"].iat[row]
        if name not in self._known:
            try:
                self._known[name] = frozenset(resolve_perf_model_class(name)(event=self._event(name, row)).param_details)
            except Exception:  # a call that the core understands and the class does not
                self._known[name] = frozenset()
        return self._known[name]

    def _event(self, name, row):
        columns = ((key, key + "_first") for key in _ARGUMENTS)
        args = {key: self._sheet[column].iat[row] for key, column in columns if column in self._sheet.columns}
        return {"name": name, "args": args, "kernel_details": []}
