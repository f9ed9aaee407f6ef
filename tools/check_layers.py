#!/usr/bin/env python3
"""Checks that every room of src/ includes only the rooms its CMakeLists.txt lists in DEPS.

A room is a folder with a tl_library call: a layer (src/io), or a part of one (src/analysis/ops).
Rooms stand in the order in which add_subdirectory names them, and may lean only on those before.

    tools/check_layers.py [--root DIR] [--picture]

With --picture it prints the rooms and their dependencies for docs/architecture.md instead (Mermaid),
leaving out those that follow from others; the page must hold what it prints.

The build enforces the rule for headers it can find; this check also sees what the build cannot:
a DEPS entry behind the room in that order, an include through "..", a private header written
with <>, an installed header that leans on the library's inside, and TEST_DEPS used outside tests.
Prints one line per offence; exit status 1 when there is one.
"""
import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CALL = re.compile(r"tl_library\s*\(([^)]*)\)", re.S)
SUBFOLDER = re.compile(r"add_subdirectory\s*\(\s*(\S+)\s*\)")
KEYWORDS = {"SOURCES", "DEPS", "LIBS", "PROTOS", "TESTS", "TEST_DEPS", "TEST_LIBS"}


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


def find_rooms(folder, src):
    """The rooms at or below a folder in build order, as [(name, folder, words)]."""
    cmake_file = folder / "CMakeLists.txt"
    if not cmake_file.exists():
        return []
    words = declared(cmake_file)
    if words is not None:
        return [(folder.relative_to(src).as_posix(), folder, words)]
    text = re.sub(r"#.*", "", cmake_file.read_text(encoding="utf-8"))
    return [room for name in SUBFOLDER.findall(text) for room in find_rooms(folder / name, src)]


def offences_in_room(name, folder, words, order):
    for dep in sorted((words["DEPS"] | words["TEST_DEPS"]) - set(order)):
        yield f"{folder}/CMakeLists.txt: {dep} is not a room of src/"
    for dep in sorted(words["DEPS"] & set(order)):
        if order.index(dep) >= order.index(name):
            yield f"{folder}/CMakeLists.txt: {name} stands above {dep} and may not depend on it"
    layers = {room.split("/")[0] for room in order}
    for file in sorted([*folder.rglob("*.hpp"), *folder.rglob("*.cpp")]):
        allowed = {name} | words["DEPS"]
        if "test" in file.stem:  # also what several tests share, e.g. test_trace.hpp
            allowed |= words["TEST_DEPS"]
        for number, bracket, path in includes(file):
            room, first = path.rpartition("/")[0], path.split("/")[0]
            if ".." in path.split("/"):
                yield f'{file}:{number}: "{path}": write it as "room/header.hpp"'
            elif first in layers and room not in allowed:
                yield f"{file}:{number}: {name} may not include {room}; DEPS does not list it"
            elif first in layers and bracket == "<":
                yield f'{file}:{number}: <{path}> is ours: write it as "{path}"'
            elif bracket == '"' and first not in layers and not path.endswith(".pb.h"):
                yield f'{file}:{number}: "{path}": write it as "room/header.hpp"'


def homeless(src, rooms):
    """Sources that stand in no room."""
    folders = {folder for _, folder, _ in rooms}
    for file in sorted([*src.rglob("*.hpp"), *src.rglob("*.cpp")]):
        if file.parent not in folders:
            yield f"{file}: stands in no room; give its folder a tl_library"


def offences_in_api(api):
    for file in sorted(api.rglob("*.hpp")):
        for number, _, path in includes(file):
            standard = "/" not in path and not path.endswith((".h", ".hpp"))
            if not standard and not path.startswith("tracelens/"):
                yield f"{file}:{number}: <{path}>: installed headers use the standard library only"


def reduced(deps):
    """{room: direct dependencies} without those reached through another dependency."""
    reach = {}
    for name, direct in deps.items():  # in build order: what a room leans on comes before it
        reach[name] = set(direct).union(*(reach[dep] for dep in direct))
    return {name: [dep for dep in direct
                   if not any(dep in reach[other] for other in direct if other != dep)]
            for name, direct in deps.items()}


def picture(rooms):
    """The rooms by layer and their dependencies, as a Mermaid diagram."""
    deps = {name: [dep for dep, _, _ in rooms if dep in words["DEPS"]] for name, _, words in rooms}
    key = {name: name.replace("/", "_") for name in deps}
    lines = ["```mermaid", "flowchart TB"]
    layers = {}
    for name in deps:
        layers.setdefault(name.split("/")[0], []).append(name)
    for layer, names in layers.items():
        if names == [layer]:
            lines.append(f"  {key[layer]}[{layer}]")
            continue
        lines.append(f"  subgraph {layer}")
        lines += [f"    {key[name]}[{name.split('/')[1]}]" for name in names]
        lines.append("  end")
    for name, direct in reduced(deps).items():
        lines += [f"  {key[dep]} --> {key[name]}" for dep in direct]
    return "\n".join([*lines, "```"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--picture", action="store_true")
    arguments = parser.parse_args()
    root = arguments.root
    found = list(offences_in_api(root / "include"))
    src = root / "src"
    rooms = find_rooms(src, src)
    found.extend(homeless(src, rooms))
    if arguments.picture:
        print(picture(rooms))
        return 0
    order = [name for name, _, _ in rooms]
    page = root / "docs" / "architecture.md"
    if page.exists() and picture(rooms) not in page.read_text(encoding="utf-8"):
        found.append(f"{page}: the picture of the rooms is old; put in what --picture prints")
    for name, folder, words in rooms:
        found.extend(offences_in_room(name, folder, words, order))
    for line in found:
        print(line)
    print(f"{len(found)} layer offences" if found else "layers: fine")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
