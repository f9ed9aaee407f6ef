"""What the tests of both replay scripts share: a script is made by the program under test and run."""

import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from clean_environment import clean_environment  # noqa: E402

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
DATA = ROOT / "tests" / "data"
PROGRAM = None

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "data" / "replay"))  # common.py
sys.path.insert(0, str(HERE / "stub"))


def template(folder):
    """The script of one framework as the build joins it, without records, as a module."""
    parts = ROOT / "data" / "replay" / folder
    text = "\n\n".join((parts / name).read_text() for name in (parts / "order.txt").read_text().split())
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place) / "replay.py"
        path.write_text(text)
        return loaded(path)


def loaded(path):
    """A script as a module."""
    spec = importlib.util.spec_from_file_location("replay", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Codes of a terminal, commands of CI systems, a line break, and a mark that turns the reading direction.
HOSTILE = "aten::x\n::error::a\x1b[2J##[error]b##vso[c]\u202e\u009b\ud800"


class ScriptTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "replay.py"

    def tearDown(self):
        self.folder.cleanup()

    def generate(self, trace, *arguments):
        subprocess.run([PROGRAM, "replay", DATA / trace, "-o", self.path, "--quiet", *arguments],
                       check=True)
        return self.path

    def rewrite_records(self, change):
        """Changes the records that lie in the script."""
        text = self.path.read_text()
        begin = text.index("json.loads(r'''") + len("json.loads(r'''")
        end = text.index("''')", begin)
        data = json.loads(text[begin:end])
        for record in data["records"]:
            change(record)
        self.path.write_text(text[:begin] + json.dumps(data).replace("'", "\\u0027") + text[end:])

    def run_script(self, *arguments, stub=True):
        path = str(HERE / "stub") if stub else self.folder.name
        return subprocess.run([sys.executable, "-B", self.path, *arguments], capture_output=True,
                              text=True, env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"})

    def check_usage(self, gpu):
        for *arguments, words in (("--ids", "999", "no record 999"), ("--filter", "nope", "'nope'"),
                                  ("--json", "/nowhere/out.json", "cannot write /nowhere/out.json"),
                                  ("--csv", self.folder.name, "cannot write")):
            ran = self.run_script("--device", "cpu", *arguments)
            self.assertEqual((ran.returncode, words in ran.stderr, ran.stdout), (2, True, ""), ran.stderr)
        self.assertEqual(self.run_script("--nonsense").returncode, 2)
        self.assertEqual(self.run_script("--device", gpu).returncode, 2)

    def check_hostile(self, ran):
        """What was printed is plain ASCII and no command of a CI system."""
        self.assertIn(r"aten::x\n::error::a\x1b[2J# #[error]b# #vso[c]\u202e\x9b\ud800", ran.stdout)
        for line in (ran.stdout + ran.stderr).split("\n"):
            self.assertRegex(line, r"^(?!::)(?!.*##\[)(?!.*##vso)[ -~]*$")

    def check_without(self, library, name):
        probe = subprocess.run([sys.executable, "-c", f"import {library}"], capture_output=True,
                               env={"PATH": "/usr/bin:/bin"})
        if probe.returncode == 0:
            self.skipTest(f"{name} is installed here")
        ran = self.run_script(stub=False)
        self.assertEqual(ran.returncode, 3)
        self.assertIn(name, ran.stderr)


def main():
    global PROGRAM
    clean_environment()
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracelens", required=True)
    known, rest = parser.parse_known_args()
    PROGRAM = known.tracelens
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])
