#!/usr/bin/env python3
"""Fails when README.md leaves out a page of docs/: each is linked, or its folder is."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = sorted((ROOT / "docs").rglob("*.md"))
    missing = [page for page in (path.relative_to(ROOT) for path in pages)
               if f"({page})" not in readme and f"({page.parent}/)" not in readme]
    for page in missing:
        print(f"README.md: {page} is not in it")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
