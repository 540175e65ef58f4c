"""Placed hunks to the file's new text.

Context and untouched lines are the file's own. Added lines are the patch's, except that a hunk that
looked past line endings gives them the ending of the old line beside them. A byte-order mark stays
in front. The final newline is as the patch says when it matched exactly; else the file keeps its
state unless the two sides of the patch disagree about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from .hunk import Hunk, HunkLine
from .lines import BOM, FileText, Tier
from .locate import Placed


@dataclass(frozen=True)
class _Edit:
    """Lines `start` up to `end` of the file give way to `added`."""

    start: int
    end: int
    added: tuple[HunkLine, ...]

    @property
    def inserts(self) -> bool:
        return self.start == self.end


def find_overlaps(placed: Sequence[Placed]) -> list[tuple[Placed, Placed]]:
    """Pairs of hunks that touch the same lines, the later one of the patch first.

    Two hunks may share lines only where they are trailing context of the upper and leading context
    of the lower one. Two insertions at one point have no order, so they overlap as well.
    """
    overlaps = []
    reaching: tuple[Placed, _Edit] | None = None  # the hunk so far that reaches furthest down
    changing: tuple[Placed, _Edit] | None = None  # the one whose last change is furthest down
    for edits, lower in sorted(
        ((_edits(p), p) for p in placed),
        key=lambda x: (x[0][0].start, x[0][-1].end, x[1].hunk.number),
    ):
        first, last = edits[0], edits[-1]
        upper = None
        if reaching and reaching[0].end > first.start:
            upper = reaching[0]
        elif changing and (changing[1].end > lower.start or _unordered(changing[1], first)):
            upper = changing[0]
        if upper:
            earlier, later = sorted((upper, lower), key=lambda p: p.hunk.number)
            overlaps.append((later, earlier))
        if reaching is None or lower.end >= reaching[0].end:
            reaching = lower, last
        if changing is None or last.end >= changing[1].end:
            changing = lower, last
    return overlaps


def rewrite(file: FileText, placed: Sequence[Placed], *, patch_has_cr: bool) -> FileText:
    """`file` with every hunk in its place. The hunks must not overlap."""
    work = sorted(((_edits(p), p) for p in placed), key=lambda x: (x[0][0].start, x[0][-1].end))
    lines = file.lines
    top = next((p for _, p in work if _ignores_bom(file, p)), None)
    if top:
        lines = [lines[0].removeprefix(BOM), *lines[1:]]
    out: list[str] = []
    copied = 0
    for edits, hunk in work:
        adapts = _adapts_endings(file, hunk, patch_has_cr=patch_has_cr)
        for edit in edits:
            out += lines[copied : edit.start]
            if edit.start == len(lines) and file.mostly_crlf and not file.terminated:
                out[-1] = out[-1].removesuffix("\r") + "\r"  # it gets the ending it never had
            out += _added_lines(file, hunk, edit) if adapts else [x.text for x in edit.added]
            copied = edit.end
    out += lines[copied:]
    closing = next((p for _, p in reversed(work) if p.end == len(lines)), None)
    terminated = _terminated(file, closing) or not out
    if not terminated and closing and not _verbatim(file, closing, patch_has_cr=patch_has_cr):
        out[-1] = out[-1].removesuffix("\r")  # half of an ending it no longer has
    if top and out:
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


def _unordered(upper: _Edit, lower: _Edit) -> bool:
    return upper.inserts and lower.inserts and upper.end == lower.start


def _ignores_bom(file: FileText, placed: Placed) -> bool:
    if placed.start > 0 or placed.tier is Tier.EXACT:
        return False
    return placed.hunk.old[0].text.startswith(BOM) != file.has_bom


def _adapts_endings(file: FileText, placed: Placed, *, patch_has_cr: bool) -> bool:
    """Whether the line endings of the patch say nothing about this file."""
    if file.eol in ("crlf", "mixed") and not patch_has_cr:
        return True
    return placed.tier is not Tier.EXACT and any(
        file.lines[index].endswith("\r") != line.text.endswith("\r")
        for index, line in enumerate(placed.hunk.old, placed.start)
    )


def _verbatim(file: FileText, placed: Placed, *, patch_has_cr: bool) -> bool:
    """Whether the last line of the file is exactly as the patch has it."""
    exact = placed.tier is Tier.EXACT
    return exact and not _adapts_endings(file, placed, patch_has_cr=patch_has_cr)


def _added_lines(file: FileText, placed: Placed, edit: _Edit) -> list[str]:
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
