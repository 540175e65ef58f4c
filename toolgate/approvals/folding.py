"""How much of an approval a page shows at once. Pure: what is folded is counted, never dropped.

The beginning of each text is open, the rest of it is folded below; what is too much for one page
has pages of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolgate.approvals.lines import Line
from toolgate.approvals.visible import Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolgate.approvals.rendering import Block, Passage

OPEN_LINES, OPEN_CHARACTERS = 200, 12_000
PAGE_LINES, PAGE_CHARACTERS = 20_000, 2_000_000


@dataclass(frozen=True)
class Folded:
    """A text on a page: what is open, what is folded, and how many lines are on other pages."""

    title: str
    count: int
    added: int
    removed: int
    open: Sequence[Line]
    folded: Sequence[Line]
    elsewhere: int

    @property
    def folded_lines(self) -> int:
        """How many lines begin below the fold, or at least go on there."""
        return len(self.folded)

    @property
    def folded_characters(self) -> int:
        """How many characters are below the fold."""
        return sum(len(line.text) for line in self.folded)


@dataclass(frozen=True)
class Part:
    """A block on a page; `number` is its place among the blocks, from 0."""

    number: int
    block: Block
    passages: tuple[Folded, ...]

    @property
    def elsewhere(self) -> int:
        """How many of its lines are on pages of their own."""
        return sum(passage.elsewhere for passage in self.passages)


@dataclass(frozen=True)
class Leaf:
    """One page of one text: lines `first` to `last`, from 1, of all."""

    passage: Passage
    number: int
    of: int
    first: int
    last: int
    lines: Sequence[Line]


def parts(blocks: Sequence[Block]) -> list[Part]:
    """The blocks as one page shows them."""
    lines_left, characters_left = PAGE_LINES, PAGE_CHARACTERS
    found = []
    for number, block in enumerate(blocks):
        passages = []
        for passage in block.passages:
            lines, characters = len(passage.lines), _characters(passage.lines)
            fits = lines <= lines_left and characters <= characters_left
            if fits:
                lines_left, characters_left = lines_left - lines, characters_left - characters
            passages.append(_folded(passage, fits=fits))
        found.append(Part(number, block, tuple(passages)))
    return found


def leaves(block: Block) -> list[Leaf]:
    """All lines of a block, a bounded number to a page."""
    found: list[tuple[Passage, int, Sequence[Line]]] = []
    for passage in block.passages:
        start = 0
        while start < len(passage.lines):
            end = _leaf_end(passage.lines, start)
            found.append((passage, start, passage.lines[start:end]))
            start = end
    return [
        Leaf(passage, number, len(found), start + 1, start + len(lines), lines)
        for number, (passage, start, lines) in enumerate(found)
    ]


def _folded(passage: Passage, *, fits: bool) -> Folded:
    opened, rest = _opened(passage.lines)
    return Folded(
        passage.title,
        len(passage.lines),
        passage.added,
        passage.removed,
        opened,
        rest if fits else (),
        0 if fits else len(passage.lines),
    )


def _opened(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """The lines above and below the fold; one that is too long is cut in two there."""
    room, opened = OPEN_CHARACTERS, []
    for place, line in enumerate(lines[:OPEN_LINES]):
        if len(line.text) > room:
            opened.append(Line(line.kind, Shown(line.text[:room])))
            going_on = Line("on", Shown(line.text[room:]))
            return opened, [going_on, *lines[place + 1 :]]
        room -= len(line.text)
        opened.append(line)
    return opened, list(lines[OPEN_LINES:])


def _leaf_end(lines: Sequence[Line], start: int) -> int:
    """Where a page that begins at `start` ends: at least one line later."""
    room = PAGE_CHARACTERS
    for end in range(start, min(len(lines), start + PAGE_LINES)):
        room -= len(lines[end].text)
        if room < 0 and end > start:
            return end
    return min(len(lines), start + PAGE_LINES)


def _characters(lines: Sequence[Line]) -> int:
    return sum(len(line.text) for line in lines)
