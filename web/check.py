#!/usr/bin/env python3
"""Checks that the sources of the page can be joined, and that none of them makes markup or code from text.

    web/check.py [FOLDER]

Joining drops imports and the word `export`, so imports have one form, files make no circle, and no name
stands at the top of two files. The page's policy would stop the forbidden calls too, but only when they run.
"""
import pathlib
import re
import sys

FORBIDDEN = {
    r"\b(innerHTML|outerHTML|insertAdjacentHTML|srcdoc|setHTMLUnsafe|createContextualFragment)\b": "makes markup from text",
    r"\bdocument\s*\.\s*write": "makes markup from text",
    r"\bDOMParser\b": "reads markup",
    r"\beval\s*\(|\bnew\s+Function\b|\bFunction\s*\(": "runs text as code",
    r"\bset(Timeout|Interval)\s*\(\s*['\"`]": "runs text as code",
    r"javascript:": "runs an address as code",
    r"setAttribute\(\s*['\"](style|on\w+)['\"]": "an attribute the policy blocks; use a class or element.style",
    r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts)\b": "the page loads nothing",
    r"\bimport\s*\((?!'\./\w+\.js'\)\.\w)": "loads code",
    r"</(script|style)|<!--": "ends or hides the script it stands in",
    r"https?://(?!www\.w3\.org/2000/svg)": "the page loads nothing",
    r"\r": "line ends are LF",
}
IMPORT = re.compile(r"import \{([\w,\s]+?),?\s*\} from '\./(\w+\.js)';")
TOP = re.compile(r"^(?:export )?(?:async )?(?:const|let|class|function\*?) +(\w+)|^(?:export )?(?:const|let) +[\[{]", re.M)


def findings_of(name, text):
    for pattern, why in FORBIDDEN.items():
        for match in re.finditer(pattern, text):
            yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group().strip() or 'CR'}: {why}"


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    problems, owners, exports, imports = [], {}, {}, {}
    sources = {file.name: file.read_bytes().decode() for file in sorted(folder.glob("*.js"))}
    for style in sorted(folder.glob("*.css")):
        text = style.read_bytes().decode()
        problems += findings_of(style.name, text)
        if re.search(r"@import|url\(\s*['\"]?(?!data:)", text):
            problems.append(f"{style.name}: the page loads nothing")
    for name, text in sources.items():
        problems += findings_of(name, text)
        imports[name] = []
        for statement in re.finditer(r"^\s*import\b(?!\()[^;]*;?", text, re.M):
            match = IMPORT.fullmatch(statement.group().strip())
            if match:
                imports[name].append((match[2], [word.strip() for word in match[1].split(",")]))
            else:
                problems.append(f"{name}: imports are written import {{a, b}} from './x.js';")
        for number, line in enumerate(text.split("\n"), 1):
            if re.match(r"\s*export\b", line) and not re.match(r"export (async )?(const|let|class|function)\b", line):
                problems.append(f"{name}:{number}: export stands before declarations only")
        for match in TOP.finditer(text):
            if match[1] is None:
                problems.append(f"{name}: a top-level name hides in a pattern: {match.group()}")
            elif match[1] in owners:
                problems.append(f"{name}: {match[1]} is a top-level name of {owners[match[1]]} too")
            else:
                owners[match[1]] = name
                if match.group().startswith("export"):
                    exports.setdefault(name, set()).add(match[1])
    for name, used in imports.items():
        for other, words in used:
            missing = [word for word in words if word not in exports.get(other, ())]
            if missing:
                problems.append(f"{name}: {other} exports no {', '.join(missing)}")
            body = re.sub(r"^import [^;]*;", "", sources[name], flags=re.M)
            problems += [f"{name}: {word} is imported and not used" for word in words if not re.search(rf"\b{word}\b", body)]

    def visit(name, path):
        if name in path:
            problems.append("imports go round: " + " -> ".join(path[path.index(name):] + [name]))
        elif name not in done:
            for other, _ in imports.get(name, []):
                visit(other, path + [name])
            done.add(name)
    done = set()
    for name in sources:
        visit(name, [])
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(sources)} files, {len(owners)} top-level names, {sum(map(len, sources.values()))} characters: " +
          (f"{len(problems)} problems" if problems else "good"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
