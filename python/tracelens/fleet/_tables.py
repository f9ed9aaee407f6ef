"""Tables that are made here rather than by a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tracelens as tl
from tracelens import _native


def table(
    name: str, description: str, columns: Sequence[tuple[str, str, str, str]], rows: Iterable[Sequence[Any]]
) -> tl.Table:
    return tl.table_of_rows(name, [tl.Column(*column) for column in columns], rows, description)


def stack(label: str, about: str, parts: Sequence[tuple[str, tl.Table]]) -> tl.Table:
    """One table: the rows of all, with the text of each in a first column ``label``."""
    return tl.Table(_native.stack_tables(label, about, [(text, part._native) for text, part in parts]))
