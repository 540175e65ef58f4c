"""Placed hunks to the file's new text.

Context and untouched lines are the file's own. Added lines are the patch's, except that a hunk that
looked past line endings gives them the ending of the old line beside them. A byte-order mark stays
in front. The final newline is as the patch says when it matched exactly; else the file keeps its
state unless the two sides of the patch disagree about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from .hunk import Hunk, HunkLine
from .lines import BOM, FileText, Tier
from .locate import Placed


class _Edit(NamedTuple):
    """Lines `start` up to `end` of the file give way to `added`."""

    start: int
    end: int
    added: tuple[HunkLine, ...]

    @property
    def inserts(self) -> bool:
        return self.start == self.end


class Work(NamedTuple):
    """A placed hunk and its changes, of which it has at least one."""

    hunk: Placed
    edits: list[_Edit]

    @property
    def top(self) -> int:
        """Where the first change begins."""
        return self.edits[0].start

    @property
    def bottom(self) -> int:
        """Where the last change ends."""
        return self.edits[-1].end


def in_file_order(placed: Sequence[Placed]) -> list[Work]:
    """The hunks by where their changes are, whatever order the patch has them in."""
    works = [Work(hunk, _edits(hunk)) for hunk in placed]
    return sorted(works, key=lambda work: (work.top, work.bottom, work.hunk.hunk.number))


def find_overlaps(works: Sequence[Work]) -> list[tuple[Placed, Placed]]:
    """Pairs of hunks that touch the same lines, the later one of the patch first.

    `works` are in file order.

    Two hunks may share lines only where they are trailing context of the upper and leading context
    of the lower one. Two insertions at one point have no order, so they overlap as well.
    """
    overlaps = []
    longest: Work | None = None  # of the hunks above: the one that reaches furthest down
    lowest: Work | None = None  # and the one whose changes do
    for work in works:
        upper = None
        if longest and longest.hunk.end > work.top:
            upper = longest
        elif lowest and (lowest.bottom > work.hunk.start or _unordered(lowest, work)):
            upper = lowest
        if upper:
            pair = sorted((upper.hunk, work.hunk), key=lambda p: p.hunk.number)
            overlaps.append((pair[1], pair[0]))
        if longest is None or work.hunk.end >= longest.hunk.end:
            longest = work
        if lowest is None or work.bottom >= lowest.bottom:
            lowest = work
    return overlaps


def rewrite(file: FileText, works: Sequence[Work], *, patch_has_cr: bool) -> FileText:
    """`file` with every hunk in its place. They are in file order and do not overlap."""
    lines = file.lines
    bom_aside = any(_ignores_bom(file, work.hunk) for work in works)
    if bom_aside:
        lines = [lines[0].removeprefix(BOM), *lines[1:]]
    out: list[str] = []
    copied = 0
    for work in works:
        adapts = _adapts_endings(file, work.hunk, patch_has_cr=patch_has_cr)
        for edit in work.edits:
            out += lines[copied : edit.start]
            if edit.start == len(lines) and file.mostly_crlf and not file.terminated:
                out[-1] = out[-1].removesuffix("\r") + "\r"  # it gets the ending it never had
            out += _adapted(file, work.hunk, edit) if adapts else [x.text for x in edit.added]
            copied = edit.end
    out += lines[copied:]
    closing = next((w.hunk for w in reversed(works) if w.hunk.end == len(lines)), None)
    terminated = _terminated(file, closing) or not out
    if not terminated and closing and not _verbatim(file, closing, patch_has_cr=patch_has_cr):
        out[-1] = out[-1].removesuffix("\r")  # half of an ending it no longer has
    if bom_aside and out:
        out[0] = (BOM if file.has_bom else "") + out[0].removeprefix(BOM)
    return FileText(out, terminated)


def added_text(hunks: Sequence[Hunk]) -> FileText:
    """The text of a file that consists of the added lines of `hunks`, verbatim."""
    lines = list(chain.from_iterable(hunk.new for hunk in hunks))
    return FileText([line.text for line in lines], not lines or lines[-1].newline)


def _edits(placed: Placed) -> list[_Edit]:
    """The changes of a hunk, without its context, in file order."""
    edits: list[_Edit] = []
    at = start = placed.start
    added: list[HunkLine] = []
    for line in placed.hunk.lines:
        if line.tag == "+":
            added.append(line)
            continue
        if line.tag == " ":
            if added or at > start:
                edits.append(_Edit(start, at, tuple(added)))
                added = []
            start = at + 1
        at += 1
    if added or at > start:
        edits.append(_Edit(start, at, tuple(added)))
    return edits


def _unordered(upper: Work, lower: Work) -> bool:
    both_insert = upper.edits[-1].inserts and lower.edits[0].inserts
    return both_insert and upper.bottom == lower.top


def _ignores_bom(file: FileText, placed: Placed) -> bool:
    if placed.start > 0 or placed.tier is Tier.EXACT:
        return False
    return placed.hunk.old[0].text.startswith(BOM) != file.has_bom


def _adapts_endings(file: FileText, placed: Placed, *, patch_has_cr: bool) -> bool:
    """Whether the line endings of the patch say nothing about this file."""
    if file.eol == "crlf" and not patch_has_cr:
        return True
    return placed.tier is not Tier.EXACT and any(
        file.lines[index].endswith("\r") != line.text.endswith("\r")
        for index, line in enumerate(placed.hunk.old, placed.start)
    )


def _verbatim(file: FileText, placed: Placed, *, patch_has_cr: bool) -> bool:
    """Whether the last line of the file is exactly as the patch has it."""
    exact = placed.tier is Tier.EXACT
    return exact and not _adapts_endings(file, placed, patch_has_cr=patch_has_cr)


def _adapted(file: FileText, placed: Placed, edit: _Edit) -> list[str]:
    """The added lines with the ending of the old line before them in the hunk, or after them."""
    before = file.ending_of(edit.end - 1) if edit.end > placed.start else None
    after = file.ending_of(edit.end) if edit.end < placed.end else None
    crlf = next((ending for ending in (before, after) if ending is not None), file.mostly_crlf)
    end = "\r" if crlf else ""
    return [line.text.removesuffix("\r") + end for line in edit.added]


def _terminated(file: FileText, closing: Placed | None) -> bool:
    """Whether the new text ends in a newline, given the hunk that reaches the end of the file."""
    if closing is None:
        return file.terminated
    old, new = closing.hunk.old, closing.hunk.new
    new_is_open = bool(new) and not new[-1].newline
    if closing.tier is Tier.EXACT or new_is_open == old[-1].newline:
        return not new_is_open
    return file.terminated
