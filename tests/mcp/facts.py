"""What an answer must say: exact in its structure, rounded in its text."""
import json
import math

from client import text_of


def rows(result, section=None):
    """The rows of an answer, or of a section of it, as dictionaries."""
    grid = result["structuredContent"]
    grid = grid[section] if section else grid
    names = [column["name"] for column in grid["columns"]]
    assert all(len(row) == len(names) for row in grid["rows"]), grid
    return [dict(zip(names, row)) for row in grid["rows"]]


def row_with(result, section=None, **cells):
    found = [row for row in rows(result, section) if all(row[key] == value for key, value in cells.items())]
    assert found, (cells, rows(result, section))
    return found[0]


def is_near(value, expected, within=1e-5):
    return math.isclose(value, expected, rel_tol=within, abs_tol=1e-9)


def says(result, *numbers):
    """The text has each number, rounded to four digits."""
    text = text_of(result)
    for number in numbers:
        rounded = f"{number:.4g}"
        assert any(form in text for form in (rounded, f"{number:.0f}" if number >= 1000 else rounded)), (number, text)


def expect(actual, *expected):
    """Numbers within 1e-5, everything else equal."""
    for value, wanted in zip(actual, expected, strict=True):
        if isinstance(wanted, float):
            assert is_near(value, wanted), (actual, expected)
        else:
            assert value == wanted, (actual, expected)


def tokens(result):
    """What counts: the text and the structure, each by itself."""
    structure = json.dumps(result.get("structuredContent", {}), separators=(",", ":"), ensure_ascii=False)
    return max(len(text_of(result).encode()), len(structure.encode())) / 3


def sentence_of_error(result):
    assert result["isError"] is True and "structuredContent" not in result, result
    return text_of(result)
