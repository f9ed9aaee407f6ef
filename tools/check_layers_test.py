#!/usr/bin/env python3
"""Tests of check_layers.py on small made-up trees."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().with_name("check_layers.py")


def check(files):
    """Writes {path: text} below a fresh root, and returns (exit status, output) of the check."""
    with tempfile.TemporaryDirectory() as root:
        (pathlib.Path(root) / "include").mkdir()
        for name, text in files.items():
            path = pathlib.Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, CHECK, "--root", root], capture_output=True,
                              text=True)
        return done.returncode, done.stdout


SRC = {"src/CMakeLists.txt": "add_subdirectory(io)\nadd_subdirectory(trace)\n"
                             "add_subdirectory(analysis)\n",
       "src/analysis/CMakeLists.txt": "add_subdirectory(kit)\nadd_subdirectory(ops)\n"}
IO = {**SRC, "src/io/CMakeLists.txt": "tl_library(io SOURCES a.cpp)"}
TRACE = {**SRC, "src/trace/CMakeLists.txt": "tl_library(trace SOURCES t.cpp TESTS t_test.cpp\n  DEPS io)"}


class CheckLayers(unittest.TestCase):
    def test_an_include_listed_in_deps_is_fine(self):
        status, output = check({**IO, **TRACE, "src/trace/t.cpp": '#include "io/a.hpp"\n'})
        self.assertEqual((status, output), (0, "layers: fine\n"))

    def test_an_include_that_deps_does_not_list_is_an_offence(self):
        status, output = check({**IO, **TRACE, "src/io/a.cpp": '#include "trace/t.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("a.cpp:1: io may not include trace", output)

    def test_deps_never_point_down_or_sideways(self):
        files = {**TRACE, "src/io/CMakeLists.txt": "tl_library(io SOURCES a.cpp DEPS trace)"}
        status, output = check(files)
        self.assertEqual(status, 1)
        self.assertIn("io stands above trace", output)

    def test_a_room_includes_another_room_only_if_deps_list_it(self):
        kit = {**SRC, "src/analysis/kit/CMakeLists.txt": "tl_library(analysis/kit SOURCES k.cpp)"}
        ops = "tl_library(analysis/ops SOURCES o.cpp{})"
        include = {"src/analysis/ops/o.cpp": '#include "analysis/kit/k.hpp"\n'}
        listed = {"src/analysis/ops/CMakeLists.txt": ops.format(" DEPS analysis/kit")}
        self.assertEqual(check({**kit, **include, **listed})[0], 0)
        unlisted = {"src/analysis/ops/CMakeLists.txt": ops.format("")}
        status, output = check({**kit, **include, **unlisted})
        self.assertEqual(status, 1)
        self.assertIn("analysis/ops may not include analysis/kit", output)

    def test_a_source_outside_every_room_is_an_offence(self):
        status, output = check({**IO, "src/lost/x.cpp": ""})
        self.assertEqual(status, 1)
        self.assertIn("stands in no room", output)

    def test_a_path_through_the_parent_folder_is_an_offence(self):
        status, _ = check({**IO, **TRACE, "src/trace/t.cpp": '#include "../io/a.hpp"\n'})
        self.assertEqual(status, 1)

    def test_test_deps_are_for_tests_only(self):
        files = {**IO, "src/trace/CMakeLists.txt": "tl_library(trace SOURCES t.cpp TEST_DEPS io)"}
        include = '#include "io/a.hpp"\n'
        self.assertEqual(check({**files, "src/trace/t_test.cpp": include})[0], 0)
        self.assertEqual(check({**files, "src/trace/t.cpp": include})[0], 1)

    def test_the_picture_in_the_documents_is_that_of_the_rooms(self):
        status, output = check({**IO, **TRACE, "docs/architecture.md": "no picture\n"})
        self.assertEqual(status, 1)
        self.assertIn("the picture of the rooms is old", output)

    def test_installed_headers_use_the_standard_library_only(self):
        for include, status in (("<vector>", 0), ("<fmt/format.h>", 1), ('"io/a.hpp"', 1)):
            files = {**IO, "include/tracelens/x.hpp": f"#include {include}\n"}
            self.assertEqual(check(files)[0], status, include)


if __name__ == "__main__":
    unittest.main()
