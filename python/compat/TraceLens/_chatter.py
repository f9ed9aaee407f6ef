"""What happens meanwhile, for those who want to read it."""

import os


def chat(text):
    """Prints a line when TRACELENS_VERBOSE is set (to something else than 0)."""
    if os.environ.get("TRACELENS_VERBOSE", "0") not in ("", "0"):
        print(text)
