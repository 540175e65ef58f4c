"""The steps from one text to another, in bounded time whatever the texts are. Pure.

Lines that either text holds once are matched first, in order; what lies between two of them is
compared as a whole, or replaced as a whole where comparing would take long.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CONTEXT = 3
"""Equal lines that are shown around a change."""
WORK_MAX = 5_000_000
"""Of one stretch: pairs of equal lines, times lines. More takes seconds."""


class Step(NamedTuple):
    """`old[old_start:old_end]` becomes `new[new_start:new_end]`; both are the same if `equal`."""

    equal: bool
    old_start: int
    old_end: int
    new_start: int
    new_end: int


def hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[list[Step]]:
    """The changes with a few equal lines around, those together that are close."""
    hunk: list[Step] = []
    changes = False
    for step in steps(old, new):
        length = step.old_end - step.old_start
        if not step.equal or (changes and length <= CONTEXT * 2):
            hunk.append(step)
            changes = True
            continue
        if changes:
            yield [*hunk, _first(step)]
        hunk, changes = [_last(step)], False
    if changes:
        if hunk[-1].equal:
            hunk[-1] = _first(hunk[-1])
        yield hunk


def steps(old: Sequence[str], new: Sequence[str]) -> list[Step]:
    """All steps, in order, no two equal ones in a row."""
    found: list[Step] = []
    done_old = done_new = 0
    for i, j in [*_anchors(old, new), (len(old), len(new))]:
        for step in _stretch(old, new, (done_old, i), (done_new, j)):
            _append(found, step)
        if i < len(old):
            _append(found, Step(True, i, i + 1, j, j + 1))
        done_old, done_new = i + 1, j + 1
    return found


def _append(found: list[Step], step: Step) -> None:
    if found and found[-1].equal == step.equal:
        last = found.pop()
        step = Step(step.equal, last.old_start, step.old_end, last.new_start, step.new_end)
    found.append(step)


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places of lines that both texts hold once, or share at their ends, in order in both."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    middle = _increasing(_once(old, start, len(old) - end), _once(new, start, len(new) - end))
    head = [(place, place) for place in range(start)]
    tail = [(len(old) - end + n, len(new) - end + n) for n in range(end)]
    return [*head, *middle, *tail]


def _once(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    counts = Counter(lines[start:end])
    return {lines[place]: place for place in range(start, end) if counts[lines[place]] == 1}


def _increasing(old: dict[str, int], new: dict[str, int]) -> list[tuple[int, int]]:
    """The longest run of shared lines that goes forward in both texts."""
    shared = [(place, new[line]) for line, place in old.items() if line in new]
    piles: list[int] = []
    tops: list[int] = []
    before: list[int | None] = []
    for number, (_, place) in enumerate(shared):
        pile = bisect_left(piles, place)
        before.append(tops[pile - 1] if pile else None)
        piles[pile : pile + 1] = [place]
        tops[pile : pile + 1] = [number]
    found: list[tuple[int, int]] = []
    here = tops[-1] if tops else None
    while here is not None:
        found.append(shared[here])
        here = before[here]
    return found[::-1]


def _stretch(
    old: Sequence[str], new: Sequence[str], of_old: tuple[int, int], of_new: tuple[int, int]
) -> Iterator[Step]:
    (i1, i2), (j1, j2) = of_old, of_new
    if i1 == i2 and j1 == j2:
        return
    left, right = old[i1:i2], new[j1:j2]
    if not left or not right or _work(left, right) > WORK_MAX:
        yield Step(False, i1, i2, j1, j2)
        return
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        yield Step(tag == "equal", i1 + a1, i1 + a2, j1 + b1, j1 + b2)


def _work(left: Sequence[str], right: Sequence[str]) -> int:
    """The most that a comparison can take: all equal pairs are looked at for each match."""
    counts = Counter(right)
    pairs = sum(counts[line] * count for line, count in Counter(left).items())
    return (pairs + len(left)) * min(len(left), len(right))


def _first(step: Step) -> Step:
    kept = min(CONTEXT, step.old_end - step.old_start)
    return step._replace(old_end=step.old_start + kept, new_end=step.new_start + kept)


def _last(step: Step) -> Step:
    kept = min(CONTEXT, step.old_end - step.old_start)
    return step._replace(old_start=step.old_end - kept, new_start=step.new_end - kept)
