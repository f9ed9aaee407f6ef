#!/usr/bin/env python3
"""Tests of `tracelens mcp` with the standard library alone: conversations with known answers in both eras of the
protocol, framing, errors, hostile arguments and traces, cancelling.

    tests/mcp/run.py --tracelens PROGRAM [--shared ../shared] [--only WORD] [--budgets TRACE]

Traces of the checkout are always asked; those of the folder `shared` beside it where it is there. --budgets measures
how long answers about a large trace take, and checks nothing.
"""
import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parents[1] / "tools"))

import budgets  # noqa: E402
import conversations  # noqa: E402
import hostile  # noqa: E402
import protocol  # noqa: E402
from clean_environment import clean_environment  # noqa: E402
from client import LEGACY, MODERN, Server  # noqa: E402


class Setting:
    """What tests find their files by."""

    def __init__(self, arguments, folder):
        self.program = arguments.tracelens
        self.data = HERE.parent / "data"
        self.shared = arguments.shared / "traces" if (arguments.shared / "traces").is_dir() else None
        self.folder = folder
        self._huge = folder / "huge" / "huge.json.gz"
        # Such programs map terabytes, and take memory and time as no other does.
        subprocess.run([self.program, "--version"], capture_output=True, check=True)
        limited = subprocess.run([self.program, "--version"], capture_output=True,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
        self.is_sanitized = limited.returncode != 0

    def huge_trace(self):
        """2 GB of text: whoever asks for it does not wait until it is read."""
        if not self._huge.exists():
            protocol.make_big_trace(self._huge, 125)
        return self._huge


def tests(setting):
    """(name, function without arguments)"""
    for era in (MODERN, LEGACY):
        for conversation in conversations.CONVERSATIONS:
            is_shared = conversation.__name__ in conversations.SHARED
            if is_shared and setting.shared is None:
                continue
            folders = [setting.shared / "pytorch", setting.shared / "multirank8"] if is_shared else [setting.data]
            # One folder: paths are relative to it; several: they begin with its name.
            def talk(conversation=conversation, era=era, folders=folders):
                with Server(setting.program, folders, era) as server:
                    conversation(server, setting)
            yield f"{conversation.__name__} {era}", talk
        for check in protocol.CHECKS + hostile.CHECKS:
            yield f"{check.__name__} {era}", lambda check=check, era=era: check(setting, era)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracelens", required=True)
    parser.add_argument("--shared", type=pathlib.Path, default=HERE.parents[1].parent / "shared")
    parser.add_argument("--only", default="")
    parser.add_argument("--budgets")
    arguments = parser.parse_args()
    clean_environment()
    if arguments.budgets:
        return budgets.measure(arguments.tracelens, pathlib.Path(arguments.budgets))
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, test in tests(Setting(arguments, pathlib.Path(folder))):
            if arguments.only not in name:
                continue
            start = time.monotonic()
            try:
                test()
                passed += 1
                print(f"ok {name} ({time.monotonic() - start:.2f} s)", flush=True)
            except Exception:  # the next test can still tell something
                failed += 1
                print(f"FAILED {name}", flush=True)
                traceback.print_exc()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
