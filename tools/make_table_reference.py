#!/usr/bin/env python3
"""Writes the page that explains every table and column of a report.

    tools/make_table_reference.py --tracelens build/check/apps/tracelens/tracelens [--check]

The words are the column descriptions the program itself carries: reports with every option are made
of the traces in tests/data and their tables are put together in docs/tables.md. Exits with 1 when a
table or a column has no description, so that the page cannot have gaps, and with --check, which
writes nothing, when the page is not what the program says today.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
PAGE = ROOT / "docs" / "tables.md"
TRACES = ("*.json.gz", "*.xplane.pb.gz", "pftrace/*.pftrace")
EVERYTHING = ["--overlap", "--call-stack", "--recompute", "--group-by-kernel-count",
              "--first-occurrence", "--kernel-categories", "--micro-idle", "5", "--gpu", "H200",
              "--by-module", "--by-step"]
OPTION_SETS = [[], EVERYTHING, [*EVERYTHING, "--categories", "reference"]]


def reports(tracelens):
    for trace in [trace for pattern in TRACES for trace in sorted(DATA.glob(pattern))]:
        for options in OPTION_SETS:
            with tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder) / "report.json"
                command = [tracelens, "report", str(trace), "-o", str(out), "--quiet", *options]
                subprocess.run(command, check=True)
                yield json.loads(out.read_text(encoding="utf-8"))


def collect(tracelens):
    """name -> (description, {column name -> column}), tables and columns in order of appearance."""
    tables = {}
    for report in reports(tracelens):
        for table in report["tables"]:
            _, columns = tables.setdefault(table["name"], (table["description"], {}))
            for column in table["columns"]:
                columns.setdefault(column["name"], column)
    return tables


def gaps(tables):
    for name, (description, columns) in tables.items():
        if not description:
            yield f"{name}: no description"
        for column in columns.values():
            if not column["description"]:
                yield f"{name}: column {column['name']}: no description"


def page(tables):
    lines = ["# Tables of a report", "",
             "Made by `tools/make_table_reference.py` from the descriptions in the program.", ""]
    for name, (description, columns) in tables.items():
        lines += [f"## {name}", "", description + ".", "", "| column | unit | meaning |",
                  "| --- | --- | --- |"]
        lines += [f"| `{column['name']}` | {column['unit']} | {column['description']} |"
                  for column in columns.values()]
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tracelens", required=True)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    tables = collect(arguments.tracelens)
    problems = list(gaps(tables))
    if not arguments.check:
        PAGE.write_text(page(tables), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page(tables):
        problems.append("docs/tables.md is not what the program says: run "
                        "tools/make_table_reference.py and commit it")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
