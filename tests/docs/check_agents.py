#!/usr/bin/env python3
"""check_agents.py TRACELENS: docs/guide/agents.md lists the tools as the program has them (--write puts them there), and
its snippets for clients are JSON."""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from clean_environment import clean_environment  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/agents.md"
TOOLS = re.compile(r"(<!-- tools -->\n).*(<!-- end of tools -->)", re.S)


def main():
    clean_environment()
    page = PAGE.read_text(encoding="utf-8")
    tools = subprocess.run([sys.argv[1], "mcp", "--list-tools"], check=True, capture_output=True, text=True).stdout
    fresh = TOOLS.sub(lambda found: found[1] + tools.strip() + "\n" + found[2], page)
    if "--write" in sys.argv:
        PAGE.write_text(fresh, encoding="utf-8")
        return 0
    status = 0
    if fresh != page:
        print("docs/guide/agents.md lists other tools than the program: run tests/docs/check_agents.py TRACELENS --write")
        status = 1
    snippets = re.findall(r"```json\n(.*?)```", page, re.S)
    for snippet in snippets:
        servers = next(iter(json.loads(snippet).values()))
        if servers["tracelens"]["command"] != "tracelens" or servers["tracelens"]["args"][0] != "mcp":
            print(f"not how the server is started: {snippet}")
            status = 1
    if len(snippets) < 3:
        print("docs/guide/agents.md: snippets for three clients are expected")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
