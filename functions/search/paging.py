"""One page of matches: it ends at the limit, or when the call has spent what it may.

Wherever it ends, the next page goes on exactly there, in the middle of a file, too; and each page
gets at least one file, part of a file or directory further.

Pure over the steps that it is given.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contracts.errors import DeadlineError
from contracts.search.v1 import Match, Skipped
from functions.search.question import Place
from functions.search.reading import BytesSpentError
from functions.search.text import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from functions.search.matching import Hit, Matcher
    from functions.search.reading import Step

ANSWER_MAX_BYTES = 24_000
"""Of the whole answer, as JSON text inside JSON, which is how an agent is sent it."""

_AROUND_BYTES = 1_000
"""What an answer holds besides its matches and the path in its cursor, at the most."""


@dataclass
class Page:
    """What was found; `place` is where to go on, None behind the last file."""

    place: Place | None
    matches: list[Match] = field(default_factory=list)
    searched: int = 0
    binary: int = 0
    too_large: int = 0
    line_too_long: int = 0

    @property
    def skipped(self) -> Skipped:
        """The files that were not searched."""
        return Skipped(
            binary=self.binary, too_large=self.too_large, line_too_long=self.line_too_long
        )


def fill(
    steps: Iterable[Step],
    matcher: Matcher,
    start: Place,
    *,
    limit: int,
    check: Callable[[], None],
    answer_max: int = ANSWER_MAX_BYTES,
) -> Page:
    """The page that begins at `start`. `check` raises DeadlineError when time is up.

    Raises what `steps` raises; but once something was gained, too little time ends the page.
    """
    filler = _Filler(Page(start), matcher, limit, check, answer_max)
    try:
        for step in steps:
            if not filler.take(step):
                return filler.page
            check()
    except (DeadlineError, BytesSpentError):
        if filler.page.place == start:
            raise
        return filler.page
    filler.page.place = None
    return filler.page


@dataclass
class _Filler:
    page: Page
    matcher: Matcher
    limit: int
    check: Callable[[], None]
    left: int

    def take(self, step: Step) -> bool:
        """Whether the page goes on behind this step."""
        place = self.page.place or Place()
        if step.is_file and not self._search(step, place):
            return False
        self.page.place = Place(step.path, 0 if step.is_file else place.lines)
        return True

    def _search(self, step: Step, place: Place) -> bool:
        if step.data is None:
            self.page.too_large += 1
            return True
        text = readable(step.data)
        if text is None:
            self.page.binary += 1
            return True
        if self.matcher.too_long(text):
            self.page.line_too_long += 1
            return True
        self.page.searched += 1
        for line, hit in self.matcher.search(text, place.lines):
            if hit and not self._add(step.path, line, hit):
                return False
            self.page.place = Place(place.after, line)
            if len(self.page.matches) == self.limit:
                return False
            self.check()
        return True

    def _add(self, path: bytes, line: int, hit: Hit) -> bool:
        """Whether the answer has room for the match; for the first it has."""
        match = Match(
            path=path.decode("utf-8", "backslashreplace"),
            line=line,
            column=hit.column,
            preview=hit.preview,
            preview_column=hit.preview_column,
        )
        text = json.dumps(match.model_dump_json(by_alias=True), ensure_ascii=False)
        self.left -= len(text.encode("utf-8"))
        if self.page.matches and self.left < _AROUND_BYTES + 2 * len(path):
            return False
        self.page.matches.append(match)
        return True
