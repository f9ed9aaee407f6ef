"""texts.py: names that want to be commands, and JSON that is none."""
import csv
import io
import json

import traces
from lab import Failure

NAMES = ["\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "over\rwritten", "two\nlines", "tab\there", "nul\0in",
         "=cmd|'/c calc'!A1", "+1+1", "-1+1", "@SUM(A1)", "[click](http://evil.example)",
         "![x](http://evil.example/x.png)", "<script>alert(1)</script>", "a|b|c", "`code`", "\ufffe\uffff",
         "\u202eright", "\x7f\x9b31m", "::error::ci", "##vso[task.setvariable]x", "##[error]x", "]]>", "&amp;", "\ud800", "\u2028", "''\"\"\\"]


def name_of(lab):
    name = lab.random.choice(NAMES)
    return name if lab.random.random() < 0.5 else name + lab.random.choice(NAMES)


def injected_names(lab):
    name = name_of(lab)
    where = lab.random.choice(("op", "kernel", "module"))
    lab.write("a.json", traces.small(**{where: name}))
    lab.write("b.json", traces.small(**{where: name}, count=9))
    commands = [
        (["report", "a.json", "-o", "tables/"], ["tables/"]),
        (["report", "a.json", "-o", "out.md"], ["out.md"]),
        (["report", "a.json", "-o", "out.json"], ["out.json"]),
        (["report", "a.json", "-o", "out.xlsx"], ["out.xlsx"]),
        (["report", "a.json", "-o", "out.html"], ["out.html"]),
        (["report", "a.json", "-v", "-o", "out.json", "--by-module"], ["out.json"]),
        (["tree", "a.json"], []), (["tree", "a.json", "--all"], []),
        (["tree", "a.json", "-o", "out.json"], ["out.json"]),
        (["roofline", "a.json", "--gpu", "H200", "-o", "out.svg"], ["out.svg"]),
        (["compare", "a.json", "b.json", "--fail-if", "op:* > 1%", "--fail-if", "kernel:* > 1%",
          "--gate-results", "out.xml"], ["out.xml"]),
        (["diff", "a.json", "b.json", "--summary"], []),
        (["diff", "a.json", "b.json", "-o", "tables/"], ["tables/"]),
        (["fuse", "a.json", "b.json", "-o", "out.json"], ["out.json"]),
        (["convert", "a.json", "-o", "out.json"], ["out.json"]),
    ]
    command, outputs = lab.random.choice(commands)
    lab.run(command, outputs=outputs, statuses=(0, 1, 2))
    for table in lab.path("tables").glob("*.csv"):
        for row in csv.reader(io.StringIO(table.read_text(errors="replace"), newline="")):
            for cell in row:
                number = cell.lstrip("+-").replace(".", "").replace("e", "").replace("-", "")
                if cell[:1] in ("=", "+", "-", "@") and not number.isdigit() and len(cell) > 1:
                    raise Failure(f"{table.name} has the formula {cell!r}")
    for page in lab.folder.glob("out.*"):
        text = page.read_text(errors="replace") if page.suffix in (".md", ".html") else ""
        if page.suffix == ".md" and ("](http://evil" in text):
            raise Failure("a link of the trace's making in out.md")
        if page.suffix == ".html" and "<script>alert" in text:
            raise Failure("a script of the trace's making in out.html")


ODD = ["inf", "-inf", "NaN", "Infinity", "-Infinity", "01", "-01", ".5", "5.", "1e", "+1", "0x10", "1_000",
       '"\\x41"', '"\\u12"', '"\\ud800"', '"\\"', '"a\x01b"', '"a\nb"', "nul", "True", "'a'", "", "{,}",
       "[1,]", "1e999", "-", '"\udcff"', '"\udcc3("', "[[[[", "1.5.5", '"\\u0000"']


def with_odd_values(lab, text):
    """A few values, or keys of their own, that are no JSON."""
    for _ in range(lab.random.choice((1, 1, 2, 4))):
        odd = lab.random.choice(ODD)
        at = lab.random.choice([i for i, c in enumerate(text) if c == ":"])
        if lab.random.random() < 0.6:  # the value of a key
            end = at + 1
            while end < len(text) and text[end] not in ",}]":
                end += 1
            text = text[:at + 1] + odd + text[end:]
        else:  # a key of its own
            start = text.find('{"ph"', at)
            text = text[:start + 1] + f'"odd":{odd},' + text[start + 1:] if start > 0 else text
    return text


def fuse_of_odd_json(lab):
    """What fuse writes always parses, whatever it read."""
    for rank in range(2):
        text = json.dumps(json.loads(traces.small()), separators=(",", ":"))
        text = text.replace('"schemaVersion":1', f'"schemaVersion":1,"distributedInfo":{{"rank":{rank}}}')
        lab.write(f"rank{rank}.json", with_odd_values(lab, text).encode("utf-8", "surrogateescape"))
    more = lab.random.choice(([], ["--only", "gemm"], ["--categories", "kernel"], ["--align-clocks"]))
    lab.run(["fuse", "rank0.json", "rank1.json", "-o", "fused.json", *more], outputs=["fused.json"])


BETWEEN = [",,", ", \x01", ",\0", "\n", ",7,", ',"x",', ",[],", ",{},", ",\n\n"]


def split_of_odd_json(lab):
    """The parts of a trace always parse, whatever stands in it, between its events and around them."""
    text = json.dumps(json.loads(traces.unpacked("serving.json.gz")), separators=(",", ":"))
    text = with_odd_values(lab, text)
    for _ in range(lab.random.randrange(3)):
        at = lab.random.choice([i for i in range(len(text)) if text.startswith('},{"ph"', i)] or [0])
        text = text[:at + 1] + lab.random.choice(BETWEEN) + text[at + 2:]
    if lab.random.random() < 0.2:
        text = lab.random.choice(("\ufeff" + text, text + "garbage", text[:-1], text[:-2],
                                  text.replace("[", "[,", 1)))
    lab.write("serve.json", text.encode("utf-8", "surrogateescape"))
    more = lab.random.choice(([], ["--each"], ["--phases"], ["--steps", "2"], ["--iterations", "1:4"]))
    done = lab.run(["split", "serve.json", "-o", "parts/", *more], outputs=["parts/"])
    if done.status == 0 and not list(lab.path("parts").glob("*.json.gz")):
        raise Failure("no parts")
