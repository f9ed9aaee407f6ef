#!/usr/bin/env python3
"""Runs a command-line test: a text file of commands and of what they must say.

    tests/cli/run_cli.py --tracelens build/check/apps/tracelens/tracelens tests/cli/errors.cli

A .cli file reads like a terminal session. Commands run by bash in one empty folder, with the
program on PATH as `tracelens` and the folder of test traces as $DATA:

    # A comment says which rule is shown.
    $ tracelens info missing.json
    status 2                        the exit status; 0 when no line says otherwise
    stderr has missing.json         this text is somewhere in it
    stderr matches ^[^\\n]+\\n$       this regular expression is found in it
    stderr lacks Traceback          this text is nowhere in it
    stdout is empty
    file out/gpu_timeline.csv       exists and is not empty
    no file report.xlsx
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
from clean_environment import clean_environment  # noqa: E402

STREAM = re.compile(r"(stdout|stderr) (has|lacks|matches) (.+)")
TIMEOUT_S = 600  # a hang fails; far above what any case takes, even under a sanitizer


class Step:
    """One command and the lines that judge it."""

    def __init__(self, line_number, command):
        self.line_number, self.command = line_number, command
        self.status = 0
        self.checks = []  # (text of the line, function of (outputs, folder) -> bool)


def stream_check(stream, verb, wanted):
    def check(outputs, _):
        if verb == "matches":
            return re.search(wanted, outputs[stream]) is not None
        return (wanted in outputs[stream]) == (verb == "has")
    return check


def parse_check(line):
    match = STREAM.fullmatch(line)
    if match:
        return stream_check(*match.groups())
    if line in ("stdout is empty", "stderr is empty"):
        return lambda outputs, _: outputs[line.split()[0]] == ""
    if line.startswith("no file "):
        return lambda _, folder: not (folder / line[8:]).exists()
    if line.startswith("file "):
        return lambda _, folder: (folder / line[5:]).is_file() and (folder / line[5:]).read_bytes()
    raise ValueError(f"not a check: {line}")


def parse(path):
    steps = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("$ "):
            steps.append(Step(number, line[2:]))
        elif not steps:
            raise ValueError(f"{path}:{number}: a check before the first command")
        elif line.startswith("status "):
            steps[-1].status = int(line[7:])
        else:
            steps[-1].checks.append((line, parse_check(line)))
    if not steps:
        raise ValueError(f"{path}: no commands")
    return steps


def run_step(step, folder, environment):
    done = subprocess.run(["bash", "-c", step.command], cwd=folder, env=environment, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=TIMEOUT_S)
    outputs = {"stdout": done.stdout, "stderr": done.stderr}
    problems = []
    if done.returncode != step.status:
        problems.append(f"status {done.returncode}, expected {step.status}")
    problems += [f"not so: {line}" for line, check in step.checks if not check(outputs, folder)]
    return problems, outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", type=pathlib.Path)
    parser.add_argument("--tracelens", required=True, type=pathlib.Path)
    options = parser.parse_args()
    clean_environment()
    environment = dict(os.environ, DATA=str(HERE.parent / "data"), LC_ALL="C.UTF-8")
    environment["PATH"] = f"{options.tracelens.resolve().parent}:{environment['PATH']}"
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for step in parse(options.case):
            problems, outputs = run_step(step, pathlib.Path(folder), environment)
            failed += bool(problems)
            print(f"{'FAIL' if problems else 'ok'}    {step.command}")
            for problem in problems:
                print(f"      {options.case.name}:{step.line_number}: {problem}")
            for stream, text in outputs.items():
                if problems and text:
                    print(f"      {stream}: {text[-2000:].rstrip()}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
