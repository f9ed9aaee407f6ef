#!/usr/bin/env python3
"""Checks that every folder of src/ includes only the folders its CMakeLists.txt lists in DEPS.

    tools/check_layers.py [--root DIR]

The build enforces the rule for headers it can find; this check also sees what the build cannot:
a DEPS entry below the folder in the layering, an include through "..", a private header written
with <>, an installed header that leans on the library's inside, and TEST_DEPS used outside tests.
Prints one line per offence; exit status 1 when there is one.
"""
import argparse
import pathlib
import re
import sys

LAYERS = ["io", "trace", "readers", "tree", "perf", "table", "analysis", "report"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CALL = re.compile(r"tl_library\s*\(([^)]*)\)", re.S)
KEYWORDS = {"SOURCES", "DEPS", "LIBS", "PRIVATE_LIBS", "TESTS", "TEST_DEPS"}


def declared(cmake_file):
    """The arguments of the folder's tl_library call, as {keyword: set of words}."""
    text = re.sub(r"#.*", "", cmake_file.read_text(encoding="utf-8"))
    call = CALL.search(text)
    if not call:
        return None
    words = {key: set() for key in KEYWORDS}
    key = None
    for word in call.group(1).split()[1:]:
        if word in KEYWORDS:
            key = word
        elif key:
            words[key].add(word)
    return words


def includes(file):
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def offences_in_folder(folder, words):
    name = folder.name
    for dep in sorted((words["DEPS"] | words["TEST_DEPS"]) - set(LAYERS)):
        yield f"{folder}/CMakeLists.txt: {dep} is not a folder of src/"
    for dep in sorted(words["DEPS"] & set(LAYERS)):
        if LAYERS.index(dep) >= LAYERS.index(name):
            yield f"{folder}/CMakeLists.txt: {name} stands above {dep} and may not depend on it"
    for file in sorted([*folder.rglob("*.hpp"), *folder.rglob("*.cpp")]):
        allowed = {name} | words["DEPS"]
        if "test" in file.stem:  # also what several tests share, e.g. test_trace.hpp
            allowed |= words["TEST_DEPS"]
        for number, bracket, path in includes(file):
            first = path.split("/")[0]
            if ".." in path.split("/"):
                yield f'{file}:{number}: "{path}": write it as "folder/header.hpp"'
            elif first in LAYERS and first not in allowed:
                yield f"{file}:{number}: {name} may not include {first}; DEPS does not list it"
            elif first in LAYERS and bracket == "<":
                yield f'{file}:{number}: <{path}> is ours: write it as "{path}"'
            elif bracket == '"' and first not in LAYERS and not path.endswith(".pb.h"):
                yield f'{file}:{number}: "{path}": write it as "folder/header.hpp"'


def offences_in_api(api):
    for file in sorted(api.rglob("*.hpp")):
        for number, _, path in includes(file):
            standard = "/" not in path and not path.endswith((".h", ".hpp"))
            if not standard and not path.startswith("tracelens/"):
                yield f"{file}:{number}: <{path}>: installed headers use the standard library only"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    found = list(offences_in_api(root / "include"))
    for folder in sorted(path for path in (root / "src").iterdir() if path.is_dir()):
        cmake_file = folder / "CMakeLists.txt"
        words = declared(cmake_file) if cmake_file.exists() else None
        if folder.name not in LAYERS:
            found.append(f"{folder}: not in the list of layers of tools/check_layers.py")
        elif words is None:
            found.append(f"{cmake_file}: no tl_library call found")
        else:
            found.extend(offences_in_folder(folder, words))
    for line in found:
        print(line)
    print(f"{len(found)} layer offences" if found else "layers: fine")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
