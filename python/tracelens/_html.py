"""Tables in notebooks: plain HTML without scripts; text of a trace is never markup."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracelens import _native

_CAPTION = "text-align:left;font-weight:600"
_MUTED = "color:gray;font-weight:normal;font-size:85%"
_LONGEST_CELL = 80


def table_html(table: _native.Table, rows: int = 20) -> str:
    """The first rows: numbers to the right as the report formats them, units below the names."""
    columns = table.texts_for_people(rows)
    head = "".join(
        f'<th title="{escape(about)}" style="text-align:{_side(numeric)}">{escape(name)}'
        f'<br><span style="{_MUTED}">{escape(unit)}</span></th>'
        for name, unit, about, numeric, _ in columns
    )
    shown = min(rows, len(table))
    body = "".join(
        "<tr>"
        + "".join(_cell(cells[row], numeric) for _, _, _, numeric, cells in columns)
        + "</tr>"
        for row in range(shown)
    )
    more = len(table) - shown
    note = f'<div style="{_MUTED}">{more:,} {"row" if more == 1 else "rows"} more</div>'
    return (
        f'<table><caption style="{_CAPTION}" title="{escape(table.description)}">'
        f"{escape(table.name)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note if more else ''}"
    )


def report_html(report: _native.Report, verb: str) -> str:
    """The overview, the tables to read first, and the names of the others."""
    tables = {table.name: table for table in report.tables}
    first = [(name, rows) for name, rows in report.first_tables(verb) if name in tables]
    if not first:
        first = [(name, 10) for name in list(tables)[:3]]
    overview = report.overview_text(100)
    parts = [f"<h4>{escape(report.title)} · {escape(report.trace_name)}</h4>"]
    if overview:
        parts.append(f"<pre>{escape(overview)}</pre>")
    parts += [table_html(tables[name], rows or 10) for name, rows in first]
    rest = [name for name in tables if name not in dict(first)]
    if rest:
        parts.append(f'<div style="{_MUTED}">also: {escape(", ".join(rest))}</div>')
    parts += [f"<div>⚠ {escape(sentence)}</div>" for sentence in report.warnings]
    return "".join(parts)


def _side(numeric: bool) -> str:
    return "right" if numeric else "left"


def _cell(text: str, numeric: bool) -> str:
    if len(text) <= _LONGEST_CELL:
        return f'<td style="text-align:{_side(numeric)}">{escape(text)}</td>'
    return (
        f'<td title="{escape(text)}" style="text-align:{_side(numeric)}">'
        f"{escape(text[: _LONGEST_CELL - 1])}…</td>"
    )
