"""A file's bytes as text, and as much of it from some place on as an answer should hold.

Lines end at LF only, as in git. A place is a line and a column in it, both counted from 1, columns
in code points. Pages that go on where the one before ended are the whole text, whatever is in it.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "latin-1", "binary"]

BINARY_PROBE_BYTES = 8_000
EXCERPT_MAX_CHARACTERS = 20_000
EXCERPT_MAX_JSON_BYTES = 64_000
_BLOCK = 64 * 1024


def decode(data: bytes) -> tuple[str, Encoding]:
    """The text and how it was read; a binary file has no text."""
    if b"\0" in data[:BINARY_PROBE_BYTES]:
        return "", "binary"
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


class Excerpt(NamedTuple):
    """A part of a text; `next_line` and `next_column`: the place right behind it."""

    text: str
    line_count: int
    next_line: int
    next_column: int
    truncated: bool


def excerpt(text: str, first_line: int, first_column: int, max_lines: int) -> Excerpt:
    """At most `max_lines` lines from a place on; what is left of its own line is the first.

    A place behind the end of its line is the next line's start, one behind the last line the end
    of the text, which is `(line count + 1, 1)`. Whole lines, as far as 20 000 characters and 64 kB
    of JSON go; a line that is longer is cut.
    """
    line_count = text.count("\n") + (text[-1:] not in {"", "\n"})
    line_start = _start_of_line(text, first_line)
    start = min(line_start + first_column - 1, _end_of_line(text, line_start))
    end = start + _fitting(text[start : start + EXCERPT_MAX_CHARACTERS])
    end = _whole_lines(text, start, end, max_lines)
    if end == len(text):
        return Excerpt(text[start:], line_count, line_count + 1, 1, truncated=False)
    next_line = first_line + text.count("\n", line_start, end)
    next_column = end - (text.rfind("\n", line_start, end) + 1 or line_start) + 1
    return Excerpt(text[start:end], line_count, next_line, next_column, truncated=True)


def _start_of_line(text: str, line: int) -> int:
    """Where a line begins; the end of the text for one that it does not have."""
    position, left = 0, line - 1
    # Counting is many times faster than finding, and a file may have millions of lines.
    while (found := text.count("\n", position, position + _BLOCK)) < left:
        position, left = position + _BLOCK, left - found
        if position >= len(text):
            return len(text)
    for _ in range(left):
        position = _end_of_line(text, position)
    return position


def _end_of_line(text: str, position: int) -> int:
    """Where the line that holds `position` ends, behind its LF."""
    return text.find("\n", position) + 1 or len(text)


def _fitting(text: str) -> int:
    """How many characters of it fit an answer as JSON."""
    if _json_bytes(text) <= EXCERPT_MAX_JSON_BYTES:
        return len(text)
    sizes = range(len(text))
    return (
        bisect_right(sizes, EXCERPT_MAX_JSON_BYTES, key=lambda size: _json_bytes(text[:size])) - 1
    )


def _json_bytes(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8"))


def _whole_lines(text: str, start: int, end: int, max_lines: int) -> int:
    """Where to stop at `end` or before it: behind a line, unless the first is cut by `end`."""
    stop = start
    for _ in range(max_lines):
        line_end = _end_of_line(text, stop)
        if line_end > end:
            return stop if stop > start else end
        stop = line_end
        if stop == len(text):
            break
    return stop
