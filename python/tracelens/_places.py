"""Where things that come with the package lie."""

from __future__ import annotations

import os

from tracelens._errors import FileError

_HERE = os.path.dirname(os.path.abspath(__file__))


def demo_file() -> str:
    """The demo trace: named by TRACELENS_DEMO, beside the package, or where the program's package is."""
    return _first(
        "the demo trace",
        os.environ.get("TRACELENS_DEMO"),
        os.path.join(_HERE, "demo.json.gz"),
        "/usr/share/tracelens/demo.json.gz",
    )


def program_file() -> str:
    """The program: named by TRACELENS_PROGRAM, beside the package, or on the path."""
    import shutil

    return _first(
        "the program tracelens",
        os.environ.get("TRACELENS_PROGRAM"),
        os.path.join(_HERE, "bin", "tracelens"),
        shutil.which("tracelens"),
    )


def output_of(path: str | os.PathLike[str]) -> str:
    """Where to write. A pathlib.Path cannot end in /: one without an ending is a folder."""
    output = os.fspath(path)
    is_folder = os.path.isdir(output) or not (isinstance(path, str) or os.path.splitext(output)[1])
    return os.path.join(output, "") if is_folder else output


def _first(what: str, *places: str | None) -> str:
    for place in places:
        if place and os.path.exists(place):
            return place
    raise FileError(f"{what} is not installed; looked at {', '.join(p for p in places if p)}")
