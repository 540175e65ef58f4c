"""A file's bytes as text, and a range of its lines. Lines end at LF only, as in git."""

from __future__ import annotations

from typing import Literal

Encoding = Literal["utf-8", "latin-1", "binary"]

BINARY_PROBE_BYTES = 8_000
EXCERPT_MAX_CHARACTERS = 20_000


def decode(data: bytes) -> tuple[str, Encoding]:
    """The text and how it was read; a binary file has no text."""
    if b"\0" in data[:BINARY_PROBE_BYTES]:
        return "", "binary"
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def excerpt(text: str, first_line: int, max_lines: int) -> tuple[str, int, bool]:
    """`(lines, how many lines there are, whether more follow)`, with lines counted from 1.

    Whole lines only, at most 20 000 characters; a first line that is longer is cut.
    """
    lines = text.split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    wanted = lines[first_line - 1 : first_line - 1 + max_lines]
    taken, size = [], 0
    for line in wanted:
        size += len(line)
        if size > EXCERPT_MAX_CHARACTERS:
            break
        taken.append(line)
    if wanted and not taken:
        return wanted[0][:EXCERPT_MAX_CHARACTERS], len(lines), True
    return "".join(taken), len(lines), first_line - 1 + len(taken) < len(lines)
