#!/usr/bin/env python3
"""Writes the page that explains every table and column of a report.

    tools/make_table_reference.py --tracelens build/check/apps/tracelens/tracelens [--check]

The words are those the program itself carries: the registry says which tables there are, for which
traces and when they are made; reports with every option are made of the traces in tests/data, and
the columns of their tables are put together in docs/tables.md. Exits with 1 when a table is not in
the registry or says something else there, when a table or a column has no description, so that the
page cannot have gaps, and with --check, which writes nothing, when the page is not what the program
says today.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from clean_environment import clean_environment

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
PAGE = ROOT / "docs" / "tables.md"
TRACES = ("*.json.gz", "*.xplane.pb.gz", "pftrace/*.pftrace")
EVERYTHING = ["--overlap", "--call-stack", "--recompute", "--group-by-kernel-count",
              "--first-occurrence", "--kernel-categories", "--micro-idle", "5", "--gpu", "H200",
              "--by-module", "--by-step", "--host", "--kernel-details", "--memory", "--sequences"]
OPTION_SETS = [[], EVERYTHING, [*EVERYTHING, "--categories", "reference"]]
PAIRS = [("h200_pair_base.json.gz", "h200_pair_math.json.gz")]


def made_by(tracelens, *command):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "report.json"
        subprocess.run([tracelens, *map(str, command), "-o", str(out), "--quiet"], check=True)
        return json.loads(out.read_text(encoding="utf-8"))


def reports(tracelens):
    for trace in [trace for pattern in TRACES for trace in sorted(DATA.glob(pattern))]:
        for options in OPTION_SETS:
            yield "reference" in options, made_by(tracelens, "report", trace, *options)
    with tempfile.TemporaryDirectory() as ranks:
        subprocess.run([sys.executable, DATA / "make_ranks.py", "--out", ranks, "--nodes", "2",
                        "--offset-us", "0,250"], check=True)
        yield False, made_by(tracelens, "collectives", ranks)
    yield False, made_by(tracelens, "roofline", DATA / "h200_gpt_train_amp.json.gz")
    for before, after in PAIRS:
        yield False, made_by(tracelens, "diff", DATA / before, DATA / after)


def registered(tracelens):
    """name -> its rows in the registry: dicts of table, description, traces, made, needs."""
    table = made_by(tracelens, "report", "--list-tables")["tables"][0]
    names = [column["name"] for column in table["columns"]]
    rows = {}
    for cells in table["rows"]:
        row = dict(zip(names, cells))
        rows.setdefault(row["table"], []).append(row)
    return rows


def collect(tracelens):
    """name -> (descriptions, {column name -> column}), tables and columns in order of appearance."""
    tables = {}
    for is_reference, report in reports(tracelens):
        for table in report["tables"]:
            descriptions, columns = tables.setdefault(table["name"], ([], {}))
            # The registry tells of our edition; in the other a table may say something else.
            if table["description"] not in descriptions and not (is_reference and descriptions):
                descriptions.append(table["description"])
            for column in table["columns"]:
                columns.setdefault(column["name"], column)
    return tables


def says(description, registered_one):
    """Behind a semicolon a table may add what holds for this report only, as may the GPU's name."""
    return (description.partition("; ")[0] == registered_one.partition("; ")[0]
            or registered_one.endswith(" the GPU") and description.startswith(registered_one[:-8]))


def gaps(tables, registry):
    for name, (descriptions, columns) in tables.items():
        told = {row["description"] for row in rows_of(name, registry)}
        for description in descriptions:
            if not description:
                yield f"{name}: no description"
            elif not told:
                yield f"{name}: not in the registry"
            elif name in registry and not any(says(description, one) for one in told):
                yield f"{name}: says '{description}', the registry {sorted(told)}"
        for column in columns.values():
            if not column["description"]:
                yield f"{name}: column {column['name']}: no description"


def rows_of(name, registry):
    """What the registry says of a table; a row of sheets names them all behind a colon."""
    if name in registry:
        return registry[name]
    return [row for rows in registry.values() for row in rows
            if name in row["description"].partition(": ")[2].split(", ")]


def terms(row):
    """PyTorch: --by-step, needs steps"""
    return f"{row['traces']}: {row['made']}" + (f", needs {row['needs']}" if row["needs"] else "")


def page(tables, registry):
    lines = ["# Tables of a report", "",
             "Made by `tools/make_table_reference.py` from the descriptions in the program.",
             "`tracelens report --list-tables` shows the names; `--tables a,b` makes just these.", ""]
    for name, (descriptions, columns) in tables.items():
        lines += [f"## {name}", ""]
        for description in descriptions:
            told = [row for row in rows_of(name, registry)
                    if says(description, row["description"]) or name not in registry]
            lines.append(f"{description}. *{'; '.join(map(terms, told))}*")
        lines += ["", "| column | unit | meaning |",
                  "| --- | --- | --- |"]
        lines += [f"| `{column['name']}` | {column['unit']} | {column['description']} |"
                  for column in columns.values()]
        lines.append("")
    for name, rows in registry.items():
        if name in tables:
            continue
        lines += [f"## {name}", ""]  # sheets of families, and what no trace of ours has
        lines += [f"{row['description']}. *{terms(row)}*" for row in rows]
        lines.append("")
    return "\n".join(lines)


def main():
    clean_environment()
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tracelens", required=True)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    registry = registered(arguments.tracelens)
    tables = collect(arguments.tracelens)
    problems = list(gaps(tables, registry))
    text = page(tables, registry)
    if not arguments.check:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        problems.append("docs/tables.md is not what the program says: run "
                        "tools/make_table_reference.py --tracelens PROGRAM and commit it")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
