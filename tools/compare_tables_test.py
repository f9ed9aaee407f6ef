#!/usr/bin/env python3
"""Tests of compare_tables.py: a comparer that finds no difference proves nothing by itself."""
import pathlib
import tempfile
import unittest

import compare_tables

HEADER = ["name", "time"]


def differences(expected_rows, actual_rows):
    return list(compare_tables.table_differences([HEADER, *expected_rows], [HEADER, *actual_rows]))


class CompareTables(unittest.TestCase):
    def test_numbers_agree_within_the_tolerance_only(self):
        self.assertEqual(differences([["mm", "1.0"]], [["mm", "1.0000000000001"]]), [])
        self.assertEqual(len(differences([["mm", "1.0"]], [["mm", "1.000001"]])), 1)

    def test_text_must_be_equal(self):
        self.assertEqual(len(differences([["mm", "1"]], [["bmm", "1"]])), 1)

    def test_an_empty_cell_is_not_zero(self):
        self.assertEqual(len(differences([["mm", ""]], [["mm", "0"]])), 1)

    def test_a_missing_row_is_a_difference(self):
        self.assertEqual(len(differences([["mm", "1"], ["add", "2"]], [["mm", "1"]])), 1)

    def test_columns_must_stand_in_the_same_order(self):
        found = list(compare_tables.table_differences([["a", "b"]], [["b", "a"]]))
        self.assertEqual(len(found), 1)

    def test_a_table_that_was_not_written_is_a_difference(self):
        with tempfile.TemporaryDirectory() as root:
            expected, actual = pathlib.Path(root, "expected"), pathlib.Path(root, "actual")
            expected.mkdir(), actual.mkdir()
            (expected / "ops.csv").write_text("name\nmm\n", encoding="utf-8")
            self.assertEqual(list(compare_tables.folder_differences(expected, actual)),
                             ["ops.csv: not written"])

    def test_a_folder_without_expected_tables_is_a_difference(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(len(list(compare_tables.folder_differences(root, root))), 1)


if __name__ == "__main__":
    unittest.main()
