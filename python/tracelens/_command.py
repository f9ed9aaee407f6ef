"""The program itself."""

from __future__ import annotations

import os
import sys
from typing import Sequence

from tracelens._places import program_file


def main(argv: Sequence[str] | None = None) -> int:
    """Runs ``tracelens`` with these arguments, or those of this process, and gives its exit status.

    A process of its own: it has its own memory limit, and no trace can end the interpreter.

    >>> import tracelens as tl
    >>> tl.main(["--version"])
    0
    """
    import subprocess

    arguments = sys.argv[1:] if argv is None else list(argv)
    sys.stdout.flush()
    sys.stderr.flush()
    return subprocess.run([program_file(), *arguments], check=False).returncode


def become_program() -> None:
    """The same for ``python -m tracelens``: this process is the program from now on."""
    program = program_file()
    os.execv(program, [program, *sys.argv[1:]])
