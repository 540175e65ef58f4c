"""What models and mailers wrap round a diff, and where the diff itself begins and ends.

Dropped and noted: a byte-order mark, prose before the first header, one Markdown fence, a lone
fence or heredoc `EOF` at the very end, a mail signature. Content is never trimmed. Lines keep their
numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .hunk import Unusable
from .lines import BOM

_STARTS = (
    "@@",
    "diff --git ",
    "diff --cc ",
    "diff --combined ",
    "Index: ",
    "*** Begin Patch",
    "*** Update File:",
    "*** Add File:",
    "*** Delete File:",
    "GIT binary patch",
    "Binary files ",
)
_SECOND_OPENER = re.compile(r"```+[ \t]*\w")
_NORMAL_DIFF = re.compile(r"\d{1,9}(,\d{1,9})?[acd]\d{1,9}(,\d{1,9})?$")
_SIGNATURE_VERSION = re.compile(r"\d+\.\d[\w.() -]*$")


@dataclass(frozen=True)
class Envelope:
    """The lines of the patch text, without their `"\\n"`, and the part of them that is the diff."""

    lines: list[str]
    start: int
    stop: int
    """Index after the last line of the diff."""
    notes: tuple[str, ...]


def unwrap(text: str) -> Envelope:
    """Find the diff in `text`. Raises Unusable NO_HUNKS or MULTIPLE_BLOCKS."""
    notes = []
    if text.startswith(BOM):
        notes.append("byte-order mark before the patch ignored")
    lines = text.removeprefix(BOM).split("\n")
    if lines[-1] == "":
        lines.pop()
    start = next((i for i in range(len(lines)) if _starts_diff(lines, i)), None)
    if start is None:
        raise Unusable("NO_HUNKS", _explain_absence(lines))
    fences = [i for i in range(start) if lines[i].startswith("```")]
    fenced = len(fences) % 2 == 1
    if any(line.strip() for i, line in enumerate(lines[:start]) if i not in fences[-1:]):
        notes.append("text before the diff ignored")
    stop = _closing_fence(lines, start) if fenced else len(lines)
    if fenced:
        notes.append("Markdown fence ignored")
    stop = _without_trailer(lines, start, stop, notes)
    return Envelope(lines, start, stop, tuple(notes))


def begins_header_pair(lines: list[str], at: int, stop: int) -> bool:
    """Whether `---` and `+++` lines stand at `at`, with a hunk or nothing behind them.

    In a hunk whose counts are wrong this is all that tells a file header from a removed line `-- x`
    followed by an added line `++ y`.
    """
    if not (lines[at].startswith("--- ") and at + 1 < stop and lines[at + 1].startswith("+++ ")):
        return False
    after = skip_blank(lines, at + 2, stop)
    return after == stop or lines[after].startswith("@@")


def skip_blank(lines: list[str], at: int, stop: int) -> int:
    """The first index from `at` on whose line is not empty (or `stop`)."""
    while at < stop and lines[at] in ("", "\r"):
        at += 1
    return at


def _starts_diff(lines: list[str], at: int) -> bool:
    line = lines[at]
    if line.startswith(_STARTS):
        return True
    if not line.startswith(("--- ", "+++ ")) or at + 1 == len(lines):
        return False
    follower = ("+++ ", "@@") if line.startswith("-") else ("@@",)
    return lines[at + 1].startswith(follower)


def _closing_fence(lines: list[str], start: int) -> int:
    closer = len(lines)
    for i in range(start, len(lines)):
        if _SECOND_OPENER.match(lines[i]):
            raise Unusable(
                "MULTIPLE_BLOCKS",
                "The patch has more than one fenced block. Send one unified diff without fences.",
                i + 1,
            )
        if lines[i].rstrip() == "```":
            closer = i
    for i in range(closer, len(lines)):
        if _starts_diff(lines, i):
            raise Unusable(
                "MULTIPLE_BLOCKS",
                "Another diff follows the fenced one. Send one unified diff without fences.",
                i + 1,
            )
    return closer


def _without_trailer(lines: list[str], start: int, stop: int, notes: list[str]) -> int:
    """`stop` moved before a stray closing line or a mail signature."""
    end = _last_text(lines, start, stop)
    if end > start and lines[end - 1].rstrip() in ("```", "EOF"):
        notes.append(f"{lines[end - 1].rstrip()!r} after the diff ignored")
        return end - 1
    if (
        end - 1 > start
        and lines[end - 2].rstrip() == "--"
        and _SIGNATURE_VERSION.match(lines[end - 1])
    ):
        return end - 2
    return stop


def _last_text(lines: list[str], start: int, stop: int) -> int:
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return stop


def _explain_absence(lines: list[str]) -> str:
    advice = " Send a unified diff: '@@ -N,N +N,N @@', then lines that start with ' ', '-' or '+'."
    if any(line.startswith("***************") for line in lines):
        return "This is a context diff." + advice
    if any(_NORMAL_DIFF.match(line.rstrip()) for line in lines):
        return "This is a plain diff without context." + advice
    if any(line.startswith("<<<<<<< ") for line in lines):
        return "This is a search/replace block." + advice
    return "The content has no hunk." + advice
