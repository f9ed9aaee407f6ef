"""lab.py: runs the program on something hostile and says what was wrong with how it took it.

    lab = Lab(program, random.Random(7), folder)
    lab.write("a.json", data)
    done = lab.run(["report", "a.json", "-o", "out.json"], outputs=["out.json"])

Whatever goes in, a run must end by itself with status 0, or 2 and a sentence (1 where the verb has it:
gates, check); print no control characters; leave the inputs as they were; write nothing but the named
outputs, whole or not at all. A Failure says which of these did not hold.
"""
import gzip
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import time
import zipfile
from xml.etree import ElementTree

TIMEOUT = 600  # the end of a run that hangs; nothing here measures time


class Failure(Exception):
    pass


class Skip(Exception):
    pass


class Done:
    def __init__(self, status, stdout, stderr, peak_kb=0):
        self.status, self.stdout, self.stderr, self.peak_kb = status, stdout, stderr, peak_kb


def strict_json(data, what):
    """What Python's parser takes in strict mode: no NaN, no Infinity, UTF-8 throughout."""
    def refuse(word):
        raise ValueError(f"{word} is no JSON")
    try:
        return json.loads(data.decode("utf-8", "strict"), parse_constant=refuse)
    except ValueError as error:
        raise Failure(f"{what} is no JSON: {error}") from error


CI_COMMAND = re.compile(rb"(?m)^\s*::.*|##[a-z]*\[.*")
# The next run into that folder takes them away.
LEFT_BY_A_KILL = re.compile(r"\.(.+\.csv|\.tracelens-files)\.\d+-\d+\.tmp")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")


def check_plain(data, what):
    """Text that a terminal shows as it is."""
    text = data.decode("utf-8", "replace")
    found = CONTROL.search(text)
    if found:
        near = text[max(0, found.start() - 30):found.end() + 10]
        raise Failure(f"a control character in {what}: {near!r}")


def check_output(path):
    """An output file is whole: it can be read as what its name says."""
    if path.is_dir():
        for part in path.rglob("*"):
            if part.is_file() and part.name.endswith((".csv", ".json", ".json.gz")):
                check_output(part)
        return
    data = path.read_bytes()
    if path.name.endswith(".json.gz"):
        strict_json(gzip.decompress(data), path.name)
    elif path.suffix == ".json":
        strict_json(data, path.name)
    elif path.suffix in (".xml", ".svg"):
        try:
            ElementTree.fromstring(data)
        except ElementTree.ParseError as error:
            raise Failure(f"{path.name} is no XML: {error}") from error
    elif path.suffix == ".xlsx":
        try:
            with zipfile.ZipFile(path) as book:
                for name in book.namelist():
                    if name.endswith((".xml", ".rels")):
                        ElementTree.fromstring(book.read(name))
        except (zipfile.BadZipFile, ElementTree.ParseError, OSError) as error:
            raise Failure(f"{path.name} is no workbook: {error}") from error
    elif path.suffix in (".md", ".txt", ".html"):  # CSV keeps names as they are: other programs join on them
        check_plain(data.replace(b"\r\n", b"\n"), path.name)


class Lab:
    def __init__(self, program, random, folder):
        self.program, self.random, self.folder = str(program), random, pathlib.Path(folder)

    def path(self, name):
        return self.folder / name

    def write(self, name, data):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def snapshot(self):
        found = {}
        for path in sorted(self.folder.rglob("*")):
            if path.is_symlink():
                found[str(path.relative_to(self.folder))] = os.readlink(path)
            elif path.is_file():
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[str(path.relative_to(self.folder))] = digest
        return found

    def command(self, arguments):
        return [self.program, *map(str, arguments)]

    def start(self, arguments, stdin=subprocess.DEVNULL, limits=(), **more):
        def set_limits():
            for kind, amount in limits:
                resource.setrlimit(kind, (amount, amount))
        return subprocess.Popen(self.command(arguments), cwd=self.folder, stdin=stdin,
                                stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                                preexec_fn=set_limits if limits else None, **more)

    def run(self, arguments, outputs=(), statuses=(0, 2), limits=(), stdin=None, frozen=True, **more):
        """`outputs` may be there afterwards and are checked; `frozen`: all other files stay the same."""
        before = self.snapshot() if frozen else {}
        child = self.start(arguments, subprocess.DEVNULL if stdin is None else subprocess.PIPE, limits,
                           **more)
        try:
            stdout, stderr = child.communicate(stdin, timeout=TIMEOUT)
        except subprocess.TimeoutExpired as error:
            child.kill()
            child.communicate()
            raise Failure(f"still running after {TIMEOUT} s") from error
        done = Done(child.returncode, stdout or b"", stderr)
        self.check_end(done, statuses)
        if frozen:
            self.check_files(before, outputs)
        for output in outputs:
            if self.path(output).exists() and not self.path(output).is_symlink():
                check_output(self.path(output))
        return done

    def check_end(self, done, statuses=(0, 2)):
        if done.status < 0:
            raise Failure(f"killed by {signal.Signals(-done.status).name}")
        if done.status not in statuses:
            raise Failure(f"exit status {done.status}: {done.stderr[-300:]!r}")
        if done.status == 2 and not re.search(rb"error: \S+ ?\S", done.stderr):
            raise Failure(f"status 2 without a sentence: {done.stderr[-300:]!r}")
        for text, what in ((done.stdout, "stdout"), (done.stderr, "stderr")):
            check_plain(text, what)
            if found := CI_COMMAND.search(text):
                raise Failure(f"a command of a CI system in {what}: {found.group()!r}")

    def check_files(self, before, outputs):
        after = self.snapshot()
        outputs = [str(output).rstrip("/") for output in outputs]
        for name, digest in before.items():
            mine = any(name == output or name.startswith(output + "/") for output in outputs)
            if name not in after:
                if mine and LEFT_BY_A_KILL.fullmatch(pathlib.Path(name).name):
                    continue
                raise Failure(f"{name} is gone")
            if after[name] != digest and not mine:
                raise Failure(f"{name} was changed")
        for name in after:
            if name not in before and not any(name == output or name.startswith(output + "/")
                                              for output in outputs):
                raise Failure(f"{name} was left behind")

    def peak_kb(self, arguments, limit_kb=4_000_000):
        """Peak memory of a run that must succeed."""
        child = self.start(arguments, limits=[(resource.RLIMIT_AS, limit_kb * 1024)],
                           stdout=subprocess.DEVNULL)
        stderr = child.stderr.read()
        deadline = time.monotonic() + TIMEOUT
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                child.kill()
            time.sleep(0.005)
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stderr.close()
        self.check_end(Done(child.returncode, b"", stderr), (0,))
        return usage.ru_maxrss

    def can_limit_memory(self):
        """False for sanitized programs: they map terabytes."""
        child = self.start(["--version"], limits=[(resource.RLIMIT_AS, 1 << 30)])
        child.communicate()
        return child.returncode == 0
