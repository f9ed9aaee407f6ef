#!/usr/bin/env python3
"""Compares the CSV tables of two folders cell by cell, numbers with a tolerance.

    tools/compare_tables.py EXPECTED_DIR ACTUAL_DIR

Every table of EXPECTED_DIR must be in ACTUAL_DIR with the same columns in the same order and the
same number of rows; tables only in ACTUAL_DIR are ignored. Two cells agree when they are equal as
text or both are numbers within a relative 1e-9. Shows the first few differences of each table.
"""
import csv
import math
import pathlib
import sys

RELATIVE_TOLERANCE = 1e-9
SHOWN_PER_TABLE = 5

csv.field_size_limit(1 << 30)  # a cell can hold a long kernel name or call stack


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def cells_agree(expected, actual):
    if expected == actual:
        return True
    try:
        a, b = float(expected), float(actual)
    except ValueError:
        return False
    return math.isclose(a, b, rel_tol=RELATIVE_TOLERANCE)


def table_differences(expected, actual):
    """One sentence per difference of two tables given as lists of rows, header first."""
    header = expected[0] if expected else []
    if header != (actual[0] if actual else []):
        yield f"columns: expected {header}, found {actual[0] if actual else []}"
        return
    if len(expected) != len(actual):
        yield f"rows: expected {len(expected) - 1}, found {len(actual) - 1}"
    for row, (wanted, found) in enumerate(zip(expected[1:], actual[1:]), 1):
        if len(wanted) != len(found):
            yield f"row {row}: expected {len(wanted)} cells, found {len(found)}"
            continue
        for column, want, have in zip(header, wanted, found):
            if not cells_agree(want, have):
                yield f"row {row}, {column}: expected {want!r}, found {have!r}"


def folder_differences(expected_dir, actual_dir):
    """Yields 'table: difference' for all tables of `expected_dir`."""
    tables = sorted(pathlib.Path(expected_dir).glob("*.csv"))
    if not tables:
        yield f"{expected_dir}: holds no expected tables"
    for path in tables:
        actual = pathlib.Path(actual_dir) / path.name
        if not actual.exists():
            yield f"{path.name}: not written"
            continue
        differences = list(table_differences(read_table(path), read_table(actual)))
        for difference in differences[:SHOWN_PER_TABLE]:
            yield f"{path.name}: {difference}"
        if len(differences) > SHOWN_PER_TABLE:
            yield f"{path.name}: and {len(differences) - SHOWN_PER_TABLE} more differences"


def main():
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1].strip(), file=sys.stderr)
        return 2
    differences = list(folder_differences(sys.argv[1], sys.argv[2]))
    for line in differences:
        print(line)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
