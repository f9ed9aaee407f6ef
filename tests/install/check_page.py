"""check_page.py: docs/sdk.md shows the programs of examples/cpp; --write puts them there.

And the public headers keep their rules: an example at the top, no private or outside include.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/sdk.md"
SHOWN = re.compile(r"<!-- (examples/cpp/(\w+)\.cpp) -->\n```cpp\n(.*?)```\n", re.S)


def main() -> int:
    page = PAGE.read_text()
    fresh = SHOWN.sub(
        lambda m: f"<!-- {m[1]} -->\n```cpp\n{(ROOT / m[1]).read_text()}```\n", page
    )
    if "--write" in sys.argv:
        PAGE.write_text(fresh)
        return 0
    status = 0
    if fresh != page:
        print("docs/sdk.md and examples/cpp differ: run tests/install/check_page.py --write")
        status = 1
    shown = {m[2] for m in SHOWN.finditer(page)}
    there = {path.stem for path in (ROOT / "examples/cpp").glob("*.cpp")}
    if shown != there:
        print(f"shown in docs/sdk.md: {sorted(shown)}; in examples/cpp: {sorted(there)}")
        status = 1
    headers = {path.name for path in (ROOT / "include/tracelens").glob("*.hpp")} | {"version.hpp"}
    named = set(re.findall(r"(\w+\.hpp)", page))
    if headers - named - {"edition.hpp"} or named - headers:
        print(f"docs/sdk.md names the headers {sorted(named)}; there are {sorted(headers)}")
        status = 1
    text = (ROOT / "include/tracelens/tracelens.hpp").read_text()
    umbrella = {"tracelens.hpp"} | set(re.findall(r"(?m)^#include <tracelens/(\w+\.hpp)>", text))
    if umbrella != headers:
        print(f"tracelens.hpp and include/tracelens differ: {sorted(umbrella ^ headers)}")
        status = 1
    for path in sorted((ROOT / "include/tracelens").glob("*.hpp")):
        text = path.read_text()
        if not re.match(rf"// {path.name}: .*\n(// .*\n)*//   ", text):
            print(f"{path.name} does not open with what it is for and an example")
            status = 1
        for include in re.findall(r'#include (".*?"|<[^>]*\.h>|<(?!tracelens/)[^>]*/[^>]*>)', text):
            print(f"{path.name} includes {include}, which is not public")
            status = 1
    return status


sys.exit(main())
