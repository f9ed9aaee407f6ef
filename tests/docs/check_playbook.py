#!/usr/bin/env python3
"""Fails when docs/playbook.md has no entry for a rule of `tracelens diagnose`, or one for no rule.

    check_playbook.py TRACELENS
"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from clean_environment import clean_environment  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUALITY_NOTES = [f"TQ-{number}" for number in range(1, 18)]
RULE = re.compile(r"[A-Z]+-\d+")


def main():
    clean_environment()
    listed = subprocess.run([sys.argv[1], "diagnose", "--list-rules"], capture_output=True, text=True, check=True)
    words = (line.split(maxsplit=1)[0] for line in listed.stdout.splitlines() if line.strip())
    rules = {word for word in words if RULE.fullmatch(word)} | set(QUALITY_NOTES)
    if len(rules) < 70:
        print(f"--list-rules shows only {len(rules)} rules")
        return 1
    playbook = (ROOT / "docs/playbook.md").read_text(encoding="utf-8")
    entries = set(re.findall(r"^\*\*([A-Z]+-\d+), ", playbook, re.MULTILINE))
    for rule in sorted(rules - entries):
        print(f"docs/playbook.md: no entry '**{rule}, ...**'")
    for rule in sorted(entries - rules):
        print(f"docs/playbook.md: there is no rule {rule}")
    return 0 if entries == rules else 1


if __name__ == "__main__":
    sys.exit(main())
