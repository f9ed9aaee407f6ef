"""Sheets as files: CSV by pandas, workbooks by the native core."""

import logging
import os

import numpy as np

from .._chatter import chat

logger = logging.getLogger(__name__)


def frames_of(report):
    """The tables of a native report, in its order."""
    from tracelens._frames import frame

    for sentence in report.warnings:
        logger.warning(sentence)
    return {table.name: frame(table) for table in report.tables}


def beside_or_here(path):
    """A default output stands beside the trace; where nothing can be written, in the current folder."""
    folder = os.path.dirname(path) or "."
    return path if os.access(folder, os.W_OK) else os.path.basename(path)


def write_csvs(sheets, folder):
    os.makedirs(folder, exist_ok=True)
    for name, frame in sheets.items():
        path = os.path.join(folder, f"{name}.csv")
        frame.to_csv(path, index=False)
        chat(f"DataFrame '{name}' written to {path}")


def write_workbook(sheets, path):
    from tracelens import _native

    tables = [native_table(name, frame) for name, frame in sheets.items()]
    _native.report_of("", "", "", [], "reference", tables).write(os.fspath(path), "report")
    chat(f"DataFrames successfully written to {path}")


def native_table(name, frame):
    from tracelens import _native

    columns, cells = [], []
    for position, column in enumerate(frame.columns):
        values = frame.iloc[:, position]
        missing = values.isna().to_numpy()
        values = values.tolist()
        present = [value for value, gone in zip(values, missing) if not gone]
        kind = _kind(present)
        columns.append([str(column), kind, "", ""])
        cells.append([None if gone else _plain(value, kind) for value, gone in zip(values, missing)])
    return _native.table_of_rows(name, "", columns, list(zip(*cells)))


def _kind(values):
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        return "bool" if values else "text"
    if all(isinstance(value, (int, np.integer)) for value in values):
        return "integer" if all(-(2**63) <= value < 2**63 for value in values) else "real"
    if all(isinstance(value, (int, float, np.number)) for value in values):
        return "real"
    return "text" if all(isinstance(value, str) for value in values) else "nested"


def _plain(value, kind):
    if kind == "real":
        return float(value)
    if kind != "nested":
        return value
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return value if isinstance(value, (bool, int, float, str, list, tuple, dict)) else str(value)


def write_sheets(sheets, workbook, folder):
    if folder:
        write_csvs(sheets, folder)
    if workbook:
        write_workbook(sheets, workbook)
