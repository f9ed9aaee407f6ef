"""Functions that the workers of test_fleet.py import."""

import os
import signal
import time


def name_of(path: str) -> str:
    return os.path.basename(path)


def slowly(path: str) -> str:
    time.sleep(0.05)
    return name_of(path)


def die_once(path: str) -> str:
    """Kills its process the first time that it gets trace 3."""
    mark = path + ".tried"
    if name_of(path) == "3.json" and not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return name_of(path)


def die_always(path: str) -> str:
    if name_of(path) == "3.json":
        os.kill(os.getpid(), signal.SIGKILL)
    return name_of(path)


def raise_some(path: str) -> object:
    if name_of(path) == "3.json":
        raise ValueError("three is not wanted")
    if name_of(path) == "4.json":
        return lambda: 4  # cannot be sent back
    return name_of(path)


def away_once(path: str) -> str:
    """As a file system that is away for a moment."""
    mark = path + ".tried"
    if name_of(path) == "3.json" and not os.path.exists(mark):
        open(mark, "w").close()
        raise OSError(5, "Input/output error")
    return name_of(path)
