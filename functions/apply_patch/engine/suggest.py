"""Hunks to send instead of one that has no place: text that the file takes where it says.

A suggestion is never a guess about what to remove: each line that it removes is one that the hunk
removes, but for what `loosely` looks past. Where the file can be read in two ways there is none.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from .budget import Budget, OutOfBudgetError, ratio_steps
from .difference import Kind, loosely, without_line_number
from .hunk import Hunk, HunkLine, Unusable
from .lines import FileText, Tier, fold
from .locate import Locator, Placed
from .nearest import Closest
from .parse import parse_patch
from .write import in_file_order, rewrite

_MAX_TEXT = 2_000
_MAX_OLD = 150
_MAX_INSERTED = 6
"""Lines of the file that the hunk left out."""
_SHARE = 0.8
"""Of the old lines, how many must stand in the file."""
_CONTEXT = 2
UNENCODABLE = re.compile("[\ud800-\udfff]")

_EQUAL, _ALIKE, _OTHER, _INSERTED, _DROPPED = 12, 8, -1, -1, -2
_NEVER = -1_000_000

_Line = tuple[str, str]
"""A line as it is but for blanks at its end, and as `loosely` sees it."""


@dataclass(frozen=True)
class _Row:
    """A line of the file in a suggestion, or an old line of the hunk that the file lacks."""

    old: int
    """Index of the old line it stands for, or which it stands above."""
    at: int | None
    """0-based line of the file."""
    inserted: bool = False


def suggest_nearest(file: FileText, hunk: Hunk, closest: Closest, budget: Budget) -> str | None:
    """The hunk with the file's lines as context and removed lines, if it is nearly right.

    Lines of the file that the hunk left out become context; context that the file lacks is the
    file's, or gone. None unless that can be done in one way.
    """
    try:
        readings = _align(file, hunk, closest, budget)
    except OutOfBudgetError:
        return None
    texts = {_written(file, hunk, rows, closest.first_difference.kind) for rows in readings}
    text = texts.pop()
    if texts or text is None:
        return None
    place = _place(text, file, budget)
    return text if place else None


def suggest_exact(file: FileText, hunk: Hunk, at: int, budget: Budget) -> str | None:
    """The hunk as it must be written to fit exactly at line `at`, where it fits but for line ends.

    It makes of the file what the hunk would have made of it there.
    """
    placed = Placed(hunk, at, Tier.TRAILING_BLANKS)
    has_cr = any(line.text.endswith("\r") for line in hunk.lines)
    try:
        budget.spend(len(file.lines))
    except OutOfBudgetError:
        return None
    after = rewrite(file, in_file_order([placed]), patch_has_cr=has_cr)
    # Without context of its own a number proves nothing.
    beside = 0 if hunk.has_telling_context else _CONTEXT
    above, below = min(at, beside), min(len(file.lines) - placed.end, beside)
    tags = [" "] * above + [line.tag for line in hunk.lines] + [" "] * below
    i = j = at - above
    body: list[str] = []
    for tag in tags:
        old = new = ""
        if tag != "+":
            old = file.lines[i] + _mark(file, i)
            i += 1
        if tag != "-":
            new = after.lines[j] + _mark(after, j)
            j += 1
        changed = tag == " " and old != new
        body += [f"-{old}", f"+{new}"] if changed else [f"{tag}{new if tag == '+' else old}"]
    text = _text(at - above, i - (at - above), j - (at - above), body)
    place = text and _place(text, file, budget)
    if not text or not place or place.tier is not Tier.EXACT:
        return None
    again = rewrite(file, in_file_order([place]), patch_has_cr="\r\n" in text)
    return text if again.encode() == after.encode() else None


def _mark(file: FileText, index: int) -> str:
    ends = index == len(file.lines) - 1 and not file.terminated
    return "\n\\ No newline at end of file" if ends else ""


def _text(start: int, old: int, new: int, body: Sequence[str]) -> str | None:
    text = "\n".join([f"@@ -{start + 1},{old} +{start + 1},{new} @@", *body]) + "\n"
    return None if len(text) > _MAX_TEXT or UNENCODABLE.search(text) else text


def _place(text: str, file: FileText, budget: Budget) -> Placed | None:
    """Where the diff `text` goes, if it is one hunk that the file takes where it says."""
    try:
        hunks = parse_patch(text, "f").hunks
    except Unusable:
        return None
    if len(hunks) != 1 or not hunks[0].old:
        return None
    place = Locator(file, hunks, budget).place(hunks[0])
    return place if isinstance(place, Placed) and place.offset == 0 else None


def _align(file: FileText, hunk: Hunk, closest: Closest, budget: Budget) -> list[list[_Row] | None]:
    """The best ways to lay the hunk's old lines over the file: the first and the last of them."""
    old = hunk.old
    if closest.alike < _SHARE * len(old) / 2 or len(old) > _MAX_OLD:
        return [None]
    low = max(0, closest.start - _MAX_INSERTED)
    there = file.lines[low : closest.start + len(old) + _MAX_INSERTED]
    budget.spend(8 * ratio_steps(" " * len(old), " " * len(there)))
    budget.spend(sum(4 + len(text) // 50 for text in (*(x.text for x in old), *there)))
    ours, theirs = [_seen(line.text) for line in old], [_seen(text) for text in there]
    table = _scores(old, ours, theirs)
    return [_trace(table, old, ours, theirs, low, last=last) for last in (False, True)]


def _seen(line: str) -> _Line:
    return fold(line, Tier.TRAILING_BLANKS), loosely(line)


def _gain(tag: str, one: _Line, other: _Line) -> int:
    """What laying an old line over a line of the file is worth."""
    if one[1] != other[1]:
        return _OTHER if tag == " " else _NEVER
    return _EQUAL if one[0] == other[0] else _ALIKE


def _scores(old: Sequence[HunkLine], ours: list[_Line], theirs: list[_Line]) -> list[list[int]]:
    """`table[i][j]`: the best score of old lines from `i` on, laid over lines from `j` on."""
    width = len(theirs) + 1
    table = [[0] * width]
    for i in range(len(old) - 1, -1, -1):
        below, row = table[0], [_NEVER] * width
        context = old[i].tag == " "
        for j in range(width - 1, -1, -1):
            best = below[j] + _DROPPED if context else _NEVER
            if j < width - 1:
                best = max(best, below[j + 1] + _gain(old[i].tag, ours[i], theirs[j]))
                if i:
                    best = max(best, row[j + 1] + _INSERTED)
            row[j] = best
        table.insert(0, row)
    return table


def _trace(
    table: list[list[int]],
    old: Sequence[HunkLine],
    ours: list[_Line],
    theirs: list[_Line],
    low: int,
    *,
    last: bool,
) -> list[_Row] | None:
    """The rows of the first or the last of the best alignments; None if there is no good one."""
    starts = [j for j, score in enumerate(table[0]) if score == max(table[0])]
    j, i, alike = starts[-1 if last else 0], 0, 0
    rows: list[_Row] = []
    while i < len(old):
        score, steps = table[i][j], []
        if j < len(theirs):
            gain = _gain(old[i].tag, ours[i], theirs[j])
            steps += [(gain + table[i + 1][j + 1], "lay")]
            steps += [(_INSERTED + table[i][j + 1], "insert")] if i else []
        if old[i].tag == " ":
            steps += [(_DROPPED + table[i + 1][j], "drop")]
        fitting = [step for total, step in steps if total == score]
        if score < 0 or not fitting:
            return None
        step = fitting[-1 if last else 0]
        rows.append(_Row(i, None if step == "drop" else low + j, inserted=step == "insert"))
        alike += step == "lay" and ours[i][1] == theirs[j][1]
        i += step != "insert"
        j += step != "drop"
    inserted = sum(row.inserted for row in rows)
    return rows if alike >= _SHARE * len(old) and inserted <= _MAX_INSERTED else None


def _written(file: FileText, hunk: Hunk, rows: list[_Row] | None, kind: Kind) -> str | None:
    """The suggestion that an alignment makes."""
    if rows is None or not any(row.at is not None for row in rows):
        return None
    added = iter(_cleaned([line.text for line in hunk.lines if line.tag == "+"], kind))
    above = {i: list(group) for i, group in groupby((r for r in rows if r.inserted), _old_of)}
    laid = {row.old: row.at for row in rows if not row.inserted}
    body: list[str] = []
    index = 0
    pending: list[str] = []
    tags = [line.tag for line in hunk.lines]
    for number, tag in enumerate(tags):
        if tag == "+":
            pending.append("+" + next(added))
            continue
        between = [" " + file.lines[row.at] for row in above.get(index, []) if row.at is not None]
        if between:
            gap = _order(tags, number, len(pending))
            if gap is None:
                return None
            body += pending + between if gap == "behind" else between + pending
        else:
            body += pending
        pending = []
        if (at := laid[index]) is not None:
            body.append(tag + file.lines[at])
        index += 1
    body = [line.removesuffix("\r") for line in body + pending]
    start = next(row.at for row in rows if row.at is not None)
    old = sum(not line.startswith("+") for line in body)
    return _text(start, old, old + sum(line[0] == "+" for line in body) - tags.count("-"), body)


def _order(tags: Sequence[str], number: int, added: int) -> str | None:
    """Whether lines left out above hunk line `number` come "behind" or "before" those added there.

    None where nobody can tell: amid what is replaced, or where lines are only added.
    """
    above = tags[number - added - 1] if number > added else " "
    removes = above == "-", tags[number] == "-"
    if not added and all(removes):
        # Amid a run of removed lines: what replaces the run would go to one side of them.
        start = next((n for n in range(number - 1, -1, -1) if tags[n] != "-"), -1)
        end = next((n for n in range(number, len(tags)) if tags[n] != "-"), len(tags))
        touched = "+" in (tags[start] if start >= 0 else " ", tags[end] if end < len(tags) else " ")
        return None if touched else "behind"
    if not added or removes == (True, False):
        return "behind"
    return "before" if removes == (False, True) else None


def _old_of(row: _Row) -> int:
    return row.old


def _cleaned(added: list[str], kind: Kind) -> list[str]:
    """Added lines without the mistake that the old lines show, if all of them seem to have it."""
    if kind == "html-escaping":
        return [html.unescape(text) for text in added]
    bare = [without_line_number(text) for text in added]
    numbered = all(one != other for one, other in zip(added, bare, strict=True))
    return bare if kind == "line-number-prefix" and numbered else added
