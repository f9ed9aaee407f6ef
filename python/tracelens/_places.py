"""Where things that come with the package lie."""

from __future__ import annotations

import os

from tracelens._errors import FileError

_HERE = os.path.dirname(os.path.abspath(__file__))


def demo_file() -> str:
    """The demo trace: beside the package, or where the program's package puts it."""
    named = os.environ.get("TRACELENS_DEMO")
    places = ([named] if named else []) + [
        os.path.join(_HERE, "demo.json.gz"),
        "/usr/share/tracelens/demo.json.gz",
    ]
    for place in places:
        if os.path.exists(place):
            return place
    raise FileError(f"{places[-1]}: the demo trace is not installed")
