"""Puts a benchmark's table into docs/benchmarks.md, between the markers of its section."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def write_section(name: str, lines: list[str]) -> None:
    """Replace what stands between `<!-- NAME -->` and `<!-- /NAME -->`; both must be there."""
    text = DOCS.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{DOCS.name} has no section {name}")
    DOCS.write_text(head + begin + "\n".join(lines) + "\n" + end + tail, encoding="utf-8")
