"""The place that most resembles a hunk that fits nowhere. For reporting, never for placing.

Lines of the hunk that the file holds vote for where the hunk would start; only if there are none,
lines vote that are equal but for spelling, then the most similar line near the stated place is
taken. All steps are capped and spent of the request's budget.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain

from .budget import Budget, quick_ratio_steps, ratio_steps
from .difference import Kind, kind_of_difference, loosely
from .hunk import Hunk, HunkLine
from .lines import FileText, Tier, fold

_VOTES_PER_LINE = 8  # uses of one text within the hunk
_PLACES_PER_LINE = 200  # places of one text in the file
_LOOSE_WINDOW = 10_000  # lines each way
_SIMILAR_WINDOW = 250  # lines each way
_SIMILAR_LENGTH = 200  # characters compared
_SIMILAR_RATIO = 0.6
_SIMILAR_COMPARED = 20  # lines compared in full
_ALIGNED = 60  # lines compared behind the common head
_ALIKE_LENGTH = 10_000  # characters of a line compared
_SLACK = 3  # file lines above the place that are looked at too


@dataclass(frozen=True)
class LineDifference:
    """The first line that keeps a hunk from fitting."""

    patch_line: int
    file_line: int
    """1-based; the line that stands where the patch's line should."""
    expected: str
    actual: str | None
    """None: the file ends before."""
    kind: Kind


@dataclass(frozen=True)
class Closest:
    """Where a hunk nearly fits: its old lines laid over the file from `start` on, line by line."""

    start: int
    """0-based; may lie before line 0 when the file lacks the hunk's first lines."""
    matched: int
    """How many of the old lines are equal there."""
    alike: int
    """How many are equal but for blanks, escaping and whatever else `loosely` looks past."""
    first_difference: LineDifference


def find_closest(file: FileText, hunk: Hunk, budget: Budget) -> Closest | None:
    """The most similar place, or None when nothing is like the hunk. Raises OutOfBudgetError."""
    start = _vote(file, hunk, str.strip, None, budget)
    if start is None:
        start = _vote(file, hunk, loosely, _LOOSE_WINDOW, budget)
    if start is None:
        start = _most_similar(file, hunk, budget)
    if start is None:
        return None
    budget.spend(1_000 + sum(16 + len(line.text) // 25 for line in hunk.old))
    laid = [
        (hunk.readings(line), file.lines[start + i])
        for i, line in enumerate(hunk.old)
        if 0 <= start + i < len(file.lines)
    ]
    return Closest(
        start,
        matched=sum(_equal(readings, actual) for readings, actual in laid),
        alike=sum(_alike(readings, actual) for readings, actual in laid),
        first_difference=_first_difference(file, hunk, start),
    )


def _equal(readings: tuple[str, ...], actual: str) -> bool:
    key = fold(actual, Tier.TRAILING_BLANKS)
    return any(fold(reading, Tier.TRAILING_BLANKS) == key for reading in readings)


def _alike(readings: tuple[str, ...], actual: str) -> bool:
    if any(reading.strip() == actual.strip() for reading in readings):
        return True
    return loosely(readings[0][:_ALIKE_LENGTH]) == loosely(actual[:_ALIKE_LENGTH])


def _laid_equal(file: FileText, hunk: Hunk, start: int, index: int) -> bool:
    """Whether old line `index` is the file's when the hunk is laid at `start`."""
    if not 0 <= start + index < len(file.lines):
        return False
    return _equal(hunk.readings(hunk.old[index]), file.lines[start + index])


def _stated(hunk: Hunk) -> int:
    return 0 if hunk.start is None else hunk.start - 1


def _vote(
    file: FileText, hunk: Hunk, key_of: Callable[[str], str], window: int | None, budget: Budget
) -> int | None:
    """The start most lines of the hunk agree on; the nearest to the stated one among equals."""
    stated = min(_stated(hunk), len(file.lines))
    low = 0 if window is None else max(0, stated - window)
    high = len(file.lines) if window is None else stated + window
    looked_at = file.lines[low:high]
    budget.spend(len(hunk.old) + len(looked_at))
    if window is not None:  # then the key costs something
        texts = chain((line.text for line in hunk.old), looked_at)
        budget.spend(sum(4 + len(text) // 50 for text in texts))
    uses: defaultdict[str, list[int]] = defaultdict(list)
    for i, line in enumerate(hunk.old):
        if key := key_of(line.text):
            uses[key].append(i)
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(looked_at, low):
        if (key := key_of(text)) in uses:
            places[key].append(at)
    votes: Counter[int] = Counter()
    for key, found in places.items():
        middle = bisect_left(found, stated)
        near = found[max(0, middle - _PLACES_PER_LINE // 2) : middle + _PLACES_PER_LINE // 2]
        budget.spend(len(near) * min(_VOTES_PER_LINE, len(uses[key])))
        votes.update(at - i for at in near for i in uses[key][:_VOTES_PER_LINE])
    return min(votes, key=lambda s: (-votes[s], abs(s - stated), s), default=None)


def _most_similar(file: FileText, hunk: Hunk, budget: Budget) -> int | None:
    """The start that lays the hunk's longest line over the line most like it."""
    probe = max(range(len(hunk.old)), key=lambda i: len(hunk.old[i].text.strip()))
    matcher = SequenceMatcher(autojunk=False)
    wanted = hunk.old[probe].text.strip()[:_SIMILAR_LENGTH]
    matcher.set_seq2(wanted)
    stated = min(_stated(hunk) + probe, len(file.lines))
    low = max(0, stated - _SIMILAR_WINDOW)
    rough: list[tuple[float, int, str]] = []
    for at, line in enumerate(file.lines[low : stated + _SIMILAR_WINDOW], low):
        text = line.strip()[:_SIMILAR_LENGTH]
        budget.spend(quick_ratio_steps(wanted, text))
        matcher.set_seq1(text)
        if (
            matcher.real_quick_ratio() >= _SIMILAR_RATIO
            and (quick := matcher.quick_ratio()) >= _SIMILAR_RATIO
        ):
            rough.append((-quick, at, text))
    best, start = _SIMILAR_RATIO, None
    for quick, at, text in sorted(rough)[:_SIMILAR_COMPARED]:
        if -quick <= best:
            break
        budget.spend(ratio_steps(wanted, text))
        matcher.set_seq1(text)
        if (ratio := matcher.ratio()) > best:
            best, start = ratio, at - probe
    return start


def _first_difference(file: FileText, hunk: Hunk, start: int) -> LineDifference:
    """The first old line that does not match once hunk and file are aligned round `start`."""
    unlike = (i for i in range(len(hunk.old)) if not _laid_equal(file, hunk, start, i))
    head = next(unlike, 0)
    old = hunk.old[head : head + _ALIGNED]
    low = max(0, start + head - (0 if head else _SLACK))
    there = file.lines[low : max(low, start + head) + _ALIGNED + _SLACK]
    ours, theirs = [line.text.strip() for line in old], [line.strip() for line in there]
    matcher = SequenceMatcher(None, ours, theirs, False)
    found = sum(block.size for block in matcher.get_matching_blocks())
    if sum(_laid_equal(file, hunk, start, head + i) for i in range(len(old))) >= found:
        # Moving lines about explains no more of them than taking each as it lies.
        return _difference(file, hunk.old[head], start + head)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            for line, k in zip(old[i:i_end], range(j, j_end), strict=True):
                if not _equal(hunk.readings(line), there[k]):
                    return _difference(file, line, low + k)
        elif tag == "delete":
            return _difference(file, old[i], low + j, "missing-in-file")
        elif tag == "insert":
            above_or_below = i == len(old) or (i == 0 and not head)
            if not above_or_below:
                return _difference(file, old[i], low + j, "extra-in-file")
        elif i or head:
            return _difference(file, old[i], low + j)
        else:
            # Nothing above holds the replaced stretch: what follows does, or else its place.
            held = low + max(j, j_end - i_end) if i_end < len(old) else start
            return _difference(file, old[i], held)
    rest = range(min(head + len(old), len(hunk.old) - 1), len(hunk.old))
    last = next((i for i in rest if not _laid_equal(file, hunk, start, i)), rest[-1])
    return _difference(file, hunk.old[last], start + last)


def _difference(
    file: FileText, line: HunkLine, at: int, kind: Kind | None = None
) -> LineDifference:
    if at >= len(file.lines):
        return LineDifference(line.number, at + 1, line.text, None, "past-end")
    at = max(at, 0)
    actual = file.lines[at]
    return LineDifference(
        line.number, at + 1, line.text, actual, kind or kind_of_difference(line.text, actual)
    )
