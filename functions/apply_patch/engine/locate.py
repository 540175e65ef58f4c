"""Where a hunk goes: every hunk against the original file, by equality alone, one place or none.

Tiers are tried in order over the whole old block; the first tier with any match decides:

1. the stated line, or the stated line moved as far as the previous hunk was, if the hunk has
   context that is not blank and only one of the two fits;
2. else the only match in the file;
3. else, for a hunk without a number, the first match behind its scope line (which must be unique),
   or the match that ends the file if `*** End of File` says so;
4. else nothing: the places are reported, not chosen from.

A place that the hunk names by number or mark, and that fits at a looser tier only, is passed over
for no better match elsewhere: the name and the text contradict each other, so both are reported.
Nor does a hunk go elsewhere whose change stands at the stated line already: it was sent twice.

Wherever a hunk without a number goes, the scope lines it names must stand above its first change.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from .budget import Budget, OutOfBudgetError
from .hunk import Hunk
from .lines import BOM, FileText, Tier, fold
from .search import Block, View, Word, find_steps, vocabulary

MAX_MATCHES = 50


@dataclass(frozen=True, eq=False)
class Placed:
    """A hunk with its place."""

    hunk: Hunk
    start: int
    """0-based index of the first old line."""
    tier: Tier

    @property
    def end(self) -> int:
        """0-based index behind the last old line."""
        return self.start + len(self.hunk.old)

    @property
    def offset(self) -> int | None:
        """Lines between the stated place and the real one; None if no line was stated."""
        return None if self.hunk.start is None else self.start + 1 - self.hunk.start


@dataclass(frozen=True, eq=False)
class Unplaced:
    """A hunk without one place. Without further marks it fits nowhere."""

    hunk: Hunk
    matches: tuple[int, ...] = ()
    """0-based starts of equal places, at most 50."""
    applied_at: int | None = None
    """0-based start of what the hunk would have produced."""
    gave_up: bool = False
    """The budget does not allow searching the file for this hunk."""
    out_of_scope: bool = False
    """The only match is not below the scope lines that the hunk names."""
    named: int | None = None
    """0-based start of the match that the hunk names, if others fit better; `matches` has both."""


class Locator:
    """Places the hunks of one patch in one file, in patch order."""

    def __init__(self, file: FileText, hunks: Sequence[Hunk], budget: Budget) -> None:
        """Take the file and all hunks that will be asked for; searching spends of `budget`."""
        self._file = file
        self._budget = budget
        self._hunks = hunks
        self._words: list[Word] | None = None
        self._views: dict[Tier, View] = {}
        self._scopes: dict[str, list[int]] | None = None
        self._drift = 0

    def place(self, hunk: Hunk) -> Placed | Unplaced:
        """Find the place of `hunk`, which must have old lines."""
        try:
            found = self._search(hunk)
        except OutOfBudgetError:
            found = Unplaced(hunk, gave_up=True)
        if isinstance(found, Placed) and found.offset is not None:
            self._drift = found.offset
        return found

    def _search(self, hunk: Hunk) -> Placed | Unplaced:
        at = self._exact_stated_place(hunk)
        if at is not None:
            return self._unless_named(Placed(hunk, at, Tier.EXACT), Tier.EXACT)
        for tier in Tier:
            view = self._view(tier)
            found = self._search_view(hunk, view) if view.tier is tier else None
            if found is not None:
                return self._unless_named(found, tier)
        return Unplaced(hunk, applied_at=self._find_new_side(hunk))

    def _unless_named(self, found: Placed | Unplaced, tier: Tier) -> Placed | Unplaced:
        """What was found at `tier`, unless the hunk names another place, which fits less well."""
        hunk, at = found.hunk, found.start if isinstance(found, Placed) else None
        if isinstance(found, Placed) and hunk.start not in {None, found.start + 1}:
            done = hunk.start - 1 if hunk.start else 0
            if self._new_side_stands(hunk, done):
                return Unplaced(hunk, applied_at=done)  # sent again, and another place is alike
        others = [place for place in self._stated(hunk) if place != at]
        if hunk.start is None:
            if not (hunk.scopes or hunk.at_end):
                return found
        elif at == hunk.start - 1 or not any(map(self._nearly_fits(hunk), others)):
            return found  # most hunks: no view is made for them
        for looser in list(Tier)[tier:]:
            view = self._view(looser)
            if view.tier is not looser:
                continue
            block = Block(view, hunk, self._budget.spend)
            if hunk.start is None:
                named = self._place_by_marks(hunk, block)
            else:
                named = next(filter(block.fits, others), None)
            if named in {None, at}:
                continue
            if looser is tier:
                return found  # nothing fits better than what is named
            places = {*islice(block.matches(), MAX_MATCHES), named, named if at is None else at}
            return Unplaced(hunk, tuple(sorted(places)), named=named)
        return found

    def _nearly_fits(self, hunk: Hunk) -> Callable[[int], bool]:
        """Whether the old lines stand at a place but for what the loosest tier ignores, or more."""
        lines, old = self._file.lines, hunk.old

        def fits(at: int) -> bool:
            if at < 0 or at + len(old) > len(lines):
                return False
            self._budget.spend(1 + len(old))
            return all(
                any(_bare(reading) == _bare(lines[index]) for reading in hunk.readings(line))
                for index, line in enumerate(old, at)
            )

        return fits

    def _search_view(self, hunk: Hunk, view: View) -> Placed | Unplaced | None:
        block = Block(view, hunk, self._budget.spend)
        tier = view.tier
        stated = self._stated_place(hunk, block.fits)
        if stated is not None:
            return Placed(hunk, stated, tier)
        matches = tuple(islice(block.matches(), MAX_MATCHES))
        if len(matches) == 1:
            if hunk.start is None and not self._below_scopes(hunk, matches[0]):
                return Unplaced(hunk, matches, out_of_scope=True)
            return Placed(hunk, matches[0], tier)
        if matches and hunk.start is None:
            start = self._place_by_marks(hunk, block)
            if start is not None:
                return Placed(hunk, start, tier)
        return Unplaced(hunk, matches) if matches else None

    def _exact_stated_place(self, hunk: Hunk) -> int | None:
        """What `_stated_place` finds first, without a view: most hunks need no search."""
        if hunk.loose:
            return None
        self._budget.spend(2 + 2 * len(hunk.old))
        texts = [line.text for line in hunk.old]
        lines, count = self._file.lines, len(texts)
        # Where an unterminated line can stand: nowhere but at the end of a file that ends so.
        open_at = next((i + 1 for i, line in enumerate(hunk.old) if not line.newline), 0)

        def fits(at: int) -> bool:
            if at < 0 or lines[at : at + count] != texts:
                return False
            reaches_open_end = at + count == len(lines) and not self._file.terminated
            return open_at == (count if reaches_open_end else 0)

        return self._stated_place(hunk, fits)

    def _stated_place(self, hunk: Hunk, fits: Callable[[int], bool]) -> int | None:
        if hunk.start is None or not hunk.has_telling_context:
            return None
        fitting = [at for at in self._stated(hunk) if fits(at)]
        return fitting[0] if len(fitting) == 1 else None

    def _stated(self, hunk: Hunk) -> tuple[int, ...]:
        """Where the number says, and where it says if it is off as much as the last one was."""
        if hunk.start is None:
            return ()
        stated = hunk.start - 1
        return (stated, stated + self._drift) if self._drift else (stated,)

    def _place_by_marks(self, hunk: Hunk, block: Block) -> int | None:
        if hunk.at_end:
            start = len(self._file.lines) - len(hunk.old)
            return start if block.fits(start) else None
        line = self._scope_line(hunk.scopes)
        return None if line is None else next(block.matches(line), None)

    def _scope_line(self, scopes: tuple[str, ...]) -> int | None:
        """The innermost scope's line: the outermost is unique, each other the next below it."""
        found = self._scope_lines()
        at: int | None = None
        for scope in scopes:
            lines = found[scope]
            if at is None:
                at = lines[0] if len(lines) == 1 else None
            else:
                below = bisect_right(lines, at)
                at = lines[below] if below < len(lines) else None
            if at is None:
                return None
        return at

    def _below_scopes(self, hunk: Hunk, start: int) -> bool:
        """Whether the hunk's scope lines stand, in their order, above its first change."""
        if not hunk.scopes:
            return True
        found, above = self._scope_lines(), -1
        for scope in hunk.scopes:
            below = bisect_right(found[scope], above)
            if below == len(found[scope]):
                return False
            above = found[scope][below]
        return above < start + max(1, hunk.leading_context)

    def _scope_lines(self) -> dict[str, list[int]]:
        """Where each scope line of the patch stands in the file."""
        if self._scopes is None:
            self._budget.spend(len(self._file.lines))
            self._scopes = {scope: [] for hunk in self._hunks for scope in hunk.scopes}
            for index, line in enumerate(self._file.lines):
                if (stripped := line.strip()) in self._scopes:
                    self._scopes[stripped].append(index)
        return self._scopes

    def _find_new_side(self, hunk: Hunk) -> int | None:
        """Where the change already stands: at the stated line, or at one place in all the file."""
        if not hunk.adds or not any(line.text.strip() for line in hunk.new):
            return None  # nothing that could be recognised
        for tier in (Tier.EXACT, Tier.LINE_ENDINGS):
            view = self._view(tier)
            self._budget.spend(2 * len(hunk.new))
            needle = view.encode(hunk.new)
            if view.tier is not tier or not view.holds_all(needle):
                continue
            if hunk.start is not None:
                for at in self._stated(hunk):
                    if at >= 0 and view.text.startswith(needle, at):
                        return at
            self._budget.spend(2 * find_steps(len(view.text), len(needle)))
            first = view.text.find(needle)
            if first >= 0:
                return first if view.text.find(needle, first + 1) < 0 else None
        return None

    def _new_side_stands(self, hunk: Hunk, at: int) -> bool:
        """Whether the change already stands at `at`, beside context that tells."""
        if not (hunk.adds and hunk.has_telling_context):
            return False
        lines = self._file.lines[at : at + len(hunk.new)]
        self._budget.spend(1 + len(hunk.new))
        return len(lines) == len(hunk.new) and all(
            _bare(line.text) == _bare(there) for line, there in zip(hunk.new, lines, strict=True)
        )

    def _view(self, tier: Tier) -> View:
        """The file at `tier`, or at the strictest tier where it looks the same."""
        if self._words is None:
            self._words = vocabulary(self._hunks)
        if tier not in self._views:
            self._budget.spend(len(self._file.lines) + len(self._words))
            view = View(self._file, tier, self._words)
            if tier is not Tier.EXACT:
                stricter = self._view(Tier(tier - 1))
                view = stricter if view.adds_nothing_to(stricter) else view
            self._views[tier] = view
        return self._views[tier]


def _bare(line: str) -> str:
    return fold(line.removeprefix(BOM), Tier.TRAILING_BLANKS)
