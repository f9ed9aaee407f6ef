"""The commands of the native program, for modules that are commands of their own in the reference."""

import shutil
import subprocess
import sys


def run_script(name, argv=None):
    """Runs a drop-in script with its flags (those of this process unless given); gives its exit status.

    In this process where the package offers it, else by the program on the path.
    """
    words = ["compat", name, *(sys.argv[1:] if argv is None else argv)]
    try:
        from tracelens import main
    except ImportError:
        main = None
    if main is not None:
        return main(words)
    program = shutil.which("tracelens")
    if program is None:
        print(f"error: {name} needs the program tracelens, which is not on the path", file=sys.stderr)
        return 1
    return subprocess.call([program, *words])
