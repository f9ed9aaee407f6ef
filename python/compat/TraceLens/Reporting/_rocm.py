"""What the reports of ROCm traces have in common."""

import os

from .._chatter import chat
from ._sheets import beside_or_here, frames_of, write_csvs


def options_of(options, values):
    """Native options with the values that are given."""
    for name, value in values.items():
        if value is not None:
            setattr(options, name, value)
    return options


def base_of(path):
    """The path without .json.gz, or without its last suffix."""
    return path[: -len(".json.gz")] if path.endswith(".json.gz") else os.path.splitext(path)[0]


def written(report, workbook, folder, by_default):
    """The sheets, after they were written: into a folder that is named, else into a workbook."""
    frames = frames_of(report)
    if folder:
        write_csvs(frames, os.fspath(folder))
    else:
        path = os.fspath(workbook or beside_or_here(by_default))
        report.write(path, "report")
        chat(f"DataFrames successfully written to {path}")
    return frames
