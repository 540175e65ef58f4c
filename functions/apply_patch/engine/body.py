"""The lines under a hunk header: where they end, and what each of them is."""

from __future__ import annotations

from collections.abc import Sequence

from .envelope import begins_header_pair, skip_blank
from .hunk import HunkLine

_STRUCTURE = ("@@", "diff -", "Index: ", "*** ", "GIT binary patch")


def counted_body(
    lines: list[str], at: int, stop: int, old: int, new: int
) -> tuple[list[HunkLine], int] | None:
    """The body by the header's counts and the index behind it.

    None unless every line is well-formed, both counts are used up exactly, and structure follows.
    """
    body: list[HunkLine] = []
    while at < stop:
        line, number = lines[at], at + 1
        tag = line[:1]
        if tag == "\\" and line.startswith("\\ "):
            _read(line, number, body)
        elif not (old or new):
            break
        elif tag == " " and old and new:
            body.append(HunkLine(" ", line[1:], number))
            old -= 1
            new -= 1
        elif tag == "-" and old:
            body.append(HunkLine("-", line[1:], number))
            old -= 1
        elif tag == "+" and new:
            body.append(HunkLine("+", line[1:], number))
            new -= 1
        elif line in ("", "\r") and old and new:
            _read(line, number, body)
            old -= 1
            new -= 1
        else:
            return None
        at += 1
    if old or new or not body:
        return None
    after = skip_blank(lines, at, stop)
    return (body, at) if after == stop or is_structure(lines, after, stop) else None


def body_to_structure(lines: list[str], at: int, stop: int) -> tuple[list[HunkLine], int]:
    """Everything up to the next line that can only be structure, and that line's index."""
    body: list[HunkLine] = []
    while at < stop and not is_structure(lines, at, stop):
        _read(lines[at], at + 1, body)
        at += 1
    return body, at


def without_separators(body: list[HunkLine]) -> tuple[list[HunkLine], int]:
    """`body` without the empty lines at its edges, and how many were in front.

    Where no count vouches for them they may be separators or context that lost its blank; leaving
    them out of what must match is right for both.
    """
    first, last = 0, len(body)
    while last > first and _may_separate(body[last - 1]):
        last -= 1
    while first < last and _may_separate(body[first]):
        first += 1
    return body[first:last], first


def is_structure(lines: list[str], at: int, stop: int) -> bool:
    """Whether the line cannot belong to a hunk's body."""
    return lines[at].startswith(_STRUCTURE) or begins_header_pair(lines, at, stop)


def has_cr(lines: Sequence[str]) -> bool:
    """Whether any line ends in CR."""
    return "\r" in [line[-1:] for line in lines]


def _is_marker(line: str) -> bool:
    return line.startswith("\\ ")


def _may_separate(line: HunkLine) -> bool:
    return line.stripped and line.newline


def _read(line: str, number: int, body: list[HunkLine]) -> None:
    if _is_marker(line):
        if body:
            body[-1] = body[-1]._replace(newline=False)
    elif line in ("", "\r"):
        body.append(HunkLine(" ", line, number, stripped=True))
    elif line[0] == " ":
        body.append(HunkLine(" ", line[1:], number))
    elif line[0] == "-":
        body.append(HunkLine("-", line[1:], number))
    elif line[0] == "+":
        body.append(HunkLine("+", line[1:], number))
    else:
        body.append(HunkLine(" ", line, number, bare=True))
