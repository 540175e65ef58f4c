"""What a call asks for: a matcher, a revision, and the place to go on from.

A place is `after`, the last path that is done with (a directory's ends in `/`), and how many lines
of the first file behind it are done with, too. It travels in a cursor together with a digest of the
question, for with another query it would leave matches out.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from contracts.errors import InvalidArgumentsError
from contracts.issues import issue
from functions._runtime.cursor import Cursor, not_a_cursor
from functions.search.matching import PatternError, matcher

if TYPE_CHECKING:
    from contracts.search.v1 import Input
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
    digest: str

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
            raise _refused("/query", error.problem, {"syntax": _SYNTAX[request.mode]}) from None
        asked = [request.query, request.mode, request.path_glob, request.case_sensitive]
        digest = hashlib.sha256(json.dumps(asked).encode("ascii")).hexdigest()[:16]
        cursor = Cursor.read(request.cursor)
        if cursor is None:
            return cls(found, request.revision, Place(), digest)
        if request.revision not in {None, cursor.revision}:
            raise _refused("/revision", "not the cursor's revision", {"revision": "as the cursor"})
        return cls(found, cursor.revision, _place(cursor.after, digest), digest)

    def cursor(self, revision: str, place: Place) -> str:
        """The cursor that goes on from `place`."""
        lines = str(place.lines).encode("ascii")
        after = b"\0".join((self.digest.encode("ascii"), lines, place.after))
        return Cursor(revision, after).write()


def refuse_unusable(request: Input) -> None:
    """Raise InvalidArgumentsError for what the arguments alone decide."""
    Question.of(request)


_SYNTAX = {"literal": "text of one line", "regex": "RE2 pattern for one line"}


def _place(after: bytes, digest: str) -> Place:
    question, _, rest = after.partition(b"\0")
    lines, end, path = rest.partition(b"\0")
    if not end or not lines.isdigit() or len(lines) > LINE_DIGITS_MAX:
        raise not_a_cursor("not a cursor")
    if question != digest.encode("ascii"):
        raise not_a_cursor("belongs to another query, mode, pathGlob or caseSensitive")
    return Place(path, int(lines))


def _refused(pointer: str, problem: str, expected: object) -> InvalidArgumentsError:
    return InvalidArgumentsError(
        f"{pointer}: {problem}", issues=[issue(pointer, problem, expected)]
    )
