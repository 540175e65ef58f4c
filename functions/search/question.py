"""What a call asks for: a matcher, a revision, and the place to go on from.

A place is `after`, the last path that is done with (a directory's ends in `/`), and how many lines
of the first file behind it are done with, too. It travels in a cursor of this question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from contracts.errors import InvalidArgumentsError
from contracts.issues import issue
from functions._runtime.cursor import Paging, not_a_cursor
from functions.search.matching import PatternError, matcher

if TYPE_CHECKING:
    from contracts.search.v1 import Input
    from functions._runtime.call import Call
    from functions.search.matching import Matcher

LINE_DIGITS_MAX = 9


class Place(NamedTuple):
    """How far a search has come."""

    after: bytes = b""
    lines: int = 0


@dataclass(frozen=True)
class Question:
    """A call's arguments, made ready; `revision` None is the newest."""

    matcher: Matcher
    revision: str | None
    start: Place
    paging: Paging

    @classmethod
    def of(cls, request: Input) -> Question:
        """Raises InvalidArgumentsError for a query or cursor that means nothing."""
        try:
            found = matcher(
                request.query,
                regex=request.mode == "regex",
                case_sensitive=request.case_sensitive,
            )
        except PatternError as error:
            problem, expected = error.problem, {"syntax": _SYNTAX[request.mode]}
            raise InvalidArgumentsError(
                f"/query: {problem}", issues=[issue("/query", problem, expected)]
            ) from None
        asked = {
            "query": request.query,
            "mode": request.mode,
            "glob": request.glob,
            "caseSensitive": request.case_sensitive,
        }
        paging = Paging("search", asked)
        start = paging.start(request.cursor, request.revision)
        place = _place(start.after) if start.after else Place()
        return cls(found, start.revision, place, paging)

    def cursor(self, revision: str, place: Place) -> str:
        """The cursor that goes on from `place`."""
        return self.paging.cursor(revision, b"%d\0%b" % (place.lines, place.after))


def refuse_unusable(request: Input, _call: Call) -> None:
    """Raise InvalidArgumentsError for what the arguments alone decide."""
    Question.of(request)


_SYNTAX = {"literal": "text of one line", "regex": "RE2 pattern for one line"}


def _place(after: bytes) -> Place:
    lines, end, path = after.partition(b"\0")
    if not end or not lines.isdigit() or len(lines) > LINE_DIGITS_MAX:
        raise not_a_cursor("not a cursor")
    return Place(path, int(lines))
