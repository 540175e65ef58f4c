"""Prints a benchmark's table; with `--write`, puts it into its section of docs/benchmarks.md."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def tell(name: str, lines: list[str]) -> None:
    """Print the lines, and keep them in the section if that is asked for."""
    print("\n".join(lines))
    if "--write" in sys.argv:
        write_section(name, lines)


def write_section(name: str, lines: list[str]) -> None:
    """Replace what stands between `<!-- NAME -->` and `<!-- /NAME -->`; both must be there."""
    text = DOCS.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{DOCS.name} has no section {name}")
    DOCS.write_text(head + begin + "\n".join(lines) + "\n" + end + tail, encoding="utf-8")
