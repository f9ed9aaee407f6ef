#!/usr/bin/env python3
"""Fails when a rule of `tracelens diagnose` proves or verifies by a column that no table has.

    check_evidence.py

Looks at the sources of the rules, so that also those count that no recorded trace shows; docs/tables.md has the
tables. What no table has is told as derived().
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROOF = re.compile(r'\bproof\(\s*"([^"]*)",\s*"([^"]*)"')
CHECK = re.compile(r'\.table = "([^"]*)",\s*\.column = "([^"]*)"(.*?)\};', re.DOTALL)


def columns_of_tables():
    tables, columns = {}, None
    for line in (ROOT / "docs/tables.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            columns = tables.setdefault(line[3:].strip(), set())
        elif columns is not None and (column := re.match(r"\| `([^`]+)` \|", line)):
            columns.add(column[1])
    return tables


def main():
    tables = columns_of_tables()
    seen, wrong = 0, 0
    for source in sorted((ROOT / "src/diagnosis").glob("*/*.cpp")):
        if source.name.endswith("_test.cpp"):
            continue
        text = source.read_text(encoding="utf-8")
        named = PROOF.findall(text) + [found[:2] for found in CHECK.findall(text) if "is_derived" not in found[2]]
        for table, column in named:
            seen += 1
            if column not in tables.get(table, ()):
                wrong += 1
                print(f"{source.relative_to(ROOT)}: {table} has no column '{column}'")
    if seen < 50:
        print(f"only {seen} columns are named: the sources are written in another way than expected")
    return 0 if seen >= 50 and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
