"""Finding a block of lines in a file in linear time, whatever the file and the block hold.

Each distinct line the patch mentions becomes one code point, so that a block is a string and
`str.find` (two-way search) finds it. A line that the file lacks, or holds once, settles the
question without any search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from .hunk import Hunk, HunkLine
from .lines import BOM, FileText, Tier, fold

_FIND_SPEED = 100
"""Lines `str.find` passes in the time that a comparison in Python takes; a low guess."""
_UNMENTIONED = "\0"

Word = tuple[str, bool]
"""A line a patch mentions, and whether it ends in a newline."""


def vocabulary(hunks: Iterable[Hunk]) -> list[Word]:
    """Every distinct line that `hunks` may ask for."""
    words: dict[Word, None] = {}
    for hunk in hunks:
        for line in hunk.lines:
            for text in hunk.readings(line):
                words[text, line.newline] = None
                if text.startswith(BOM):
                    words[text.removeprefix(BOM), line.newline] = None
    return list(words)


def find_steps(text: int, needle: int) -> int:
    """What it costs to look for `needle` characters in `text` characters."""
    return 1 + (text + needle) // _FIND_SPEED


class View:
    """A file at one tier, as a string of one character a line."""

    def __init__(self, file: FileText, tier: Tier, words: Sequence[Word]) -> None:
        """Encode `file` so that blocks made of `words` can be searched for."""
        self.tier = tier
        self._codes: dict[str, str] = {}
        self._has_bom = any(text.startswith(BOM) for text, _ in words)
        for text, newline in words:
            self._codes.setdefault(self._key(text, newline=newline), chr(len(self._codes) + 1))
        exact = tier is Tier.EXACT
        keys = list(file.lines) if exact else [fold(line, tier) for line in file.lines]
        if keys and not exact:
            keys[0] = keys[0].removeprefix(BOM)
        elif keys and not file.terminated:
            keys[-1] = self._key(keys[-1], newline=False)
        self.text = "".join([self._codes.get(key, _UNMENTIONED) for key in keys])
        self.counts = Counter(self.text)

    @cached_property
    def last_index(self) -> dict[str, int]:
        """Where each character stands last."""
        return dict(zip(self.text, range(len(self.text)), strict=True))

    def adds_nothing_to(self, stricter: View) -> bool:
        """Whether this view finds only what `stricter`, of the same words, finds."""
        same_words = len(self._codes) == len(stricter._codes)
        return same_words and self.text == stricter.text and not self._has_bom

    def encode(self, lines: Sequence[HunkLine]) -> str:
        """The block of these lines, each read as it stands."""
        return "".join([self._code(x.text, x, i) for i, x in enumerate(lines)])

    def holds_all(self, block: str) -> bool:
        """Whether the file has every line of the encoded `block`, wherever."""
        return self.counts.keys() >= set(block)

    def alternatives(self, hunk: Hunk) -> list[str]:
        """For each old line of `hunk`, the codes it may stand for that the file has."""
        codes = (
            [self._code(reading, line, i) for reading in hunk.readings(line)]
            for i, line in enumerate(hunk.old)
        )
        return ["".join(code for code in choice if code in self.counts) for choice in codes]

    def _code(self, text: str, line: HunkLine, index: int) -> str:
        if index == 0 and self.tier is not Tier.EXACT:
            text = text.removeprefix(BOM)
        return self._codes[self._key(text, newline=line.newline)]

    def _key(self, text: str, *, newline: bool) -> str:
        # No line holds "\n", so it can say: the last line, and without a newline.
        return fold(text, self.tier) + ("" if newline or self.tier is not Tier.EXACT else "\n")


class Block:
    """The old lines of one hunk, ready to be looked for in a view."""

    def __init__(self, view: View, hunk: Hunk, spend: Callable[[int], None]) -> None:
        """Prepare; `spend` is told what the search costs, in lines compared, and may raise."""
        spend(2 + 4 * len(hunk.old))
        self._view = view
        self._choices = view.alternatives(hunk)
        self._plain = all(len(choice) == 1 for choice in self._choices)
        self._needle = "".join(self._choices) if self._plain else ""
        self._hopeless = not all(self._choices)
        self._only_first = view.tier is not Tier.EXACT and hunk.old[0].text.startswith(BOM)
        self._spend = spend

    def fits(self, at: int) -> bool:
        """Whether the block stands at line index `at`."""
        if self._hopeless or at < 0 or (self._only_first and at > 0):
            return False
        if self._plain:
            return self._view.text.startswith(self._needle, at)
        text, length = self._view.text, len(self._choices)
        if at + length > len(text):
            return False
        equal = next((i for i in range(length) if text[at + i] not in self._choices[i]), length)
        self._spend(equal + 1)
        return equal == length

    def matches(self, since: int = 0) -> Iterator[int]:
        """Every line index from `since` on where the block stands, in order."""
        if self._hopeless:
            return
        if self._only_first:
            yield from (at for at in (0,) if at >= since and self.fits(at))
            return
        rarest = min(range(len(self._choices)), key=self._frequency)
        if self._frequency(rarest) == 1:
            at = self._view.last_index[self._choices[rarest]] - rarest
            if at >= since and self.fits(at):
                yield at
        elif self._plain:
            text, needle = self._view.text, self._needle
            self._spend(find_steps(len(text) - since, len(needle)))
            at = text.find(needle, since)
            while at >= 0:
                yield at
                self._spend(find_steps(0, len(needle)))  # the text ahead is paid for
                at = text.find(needle, at + 1)
        else:
            wanted = self._choices[rarest]
            self._spend(max(0, len(self._view.text) - since) // 8)
            for index, code in enumerate(self._view.text[since + rarest :], since):
                if code in wanted and self.fits(index):
                    yield index

    def _frequency(self, index: int) -> int:
        return sum(self._view.counts[code] for code in self._choices[index])
