"""How many lines a change adds and removes, as a diffstat would say.

A diff is counted by its own `+` and `-` lines. Two whole texts are compared line by line, unless
that would cost more than is left of a request's budget: then all lines between the first and the
last difference count as removed and added anew. Binary and unread files have no count.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from .budget import Budget, OutOfBudgetError
from .hunk import Patch
from .lines import FileText, is_binary

COUNT_STEPS = 2_000_000
"""What is affordable for all files of a request: about a second on a small Lambda."""


@dataclass(frozen=True)
class LineCounts:
    """Lines added and removed; None where there is nothing to count."""

    added: int | None = None
    removed: int | None = None


NO_LINES = LineCounts(0, 0)


def count_patch(patch: Patch) -> LineCounts:
    """The lines that a diff adds and removes."""
    tags = [line.tag for hunk in patch.hunks for line in hunk.lines]
    return LineCounts(tags.count("+"), tags.count("-"))


def count_texts(before: bytes | None, after: bytes | None, budget: Budget) -> LineCounts:
    """The lines that differ between two texts; None is no file."""
    if is_binary(before or b"") or is_binary(after or b""):
        return LineCounts()
    old, new = _lines(before or b""), _lines(after or b"")
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    kept = 0
    try:
        budget.spend(len(old) * len(new))
    except OutOfBudgetError:
        return LineCounts(len(new), len(old))
    if old and new:
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        kept = sum(block.size for block in blocks)
    return LineCounts(len(new) - kept, len(old) - kept)


def _lines(data: bytes) -> list[str]:
    """Lines with their ending, so that a missing final newline is a difference."""
    file = FileText.decode(data)
    if not file.lines or file.terminated:
        return file.lines
    return [*file.lines[:-1], file.lines[-1] + "\0"]


def _common(old: list[str], new: list[str]) -> int:
    """How many lines both begin with."""
    pairs = zip(old, new, strict=False)
    shorter = min(len(old), len(new))
    return next((at for at, (one, other) in enumerate(pairs) if one != other), shorter)
