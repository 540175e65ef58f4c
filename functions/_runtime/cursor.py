"""Where the next page begins: a revision and a place in it, as one opaque string.

A cursor carries a digest of what was asked: with other arguments, or with another tool, its place
would leave something out, so there it is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from contracts.errors import InvalidArgumentsError
from contracts.issues import issue

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIGEST = re.compile(rb"[0-9a-f]{16}\Z")


class Start(NamedTuple):
    """Where a page begins: `revision` None is the newest; `after` is the tool's own, b"" at first.

    For a list of paths `after` is the last path given.
    """

    revision: str | None
    after: bytes = b""


@dataclass(frozen=True)
class Paging:
    """All pages of one listing, which stays the same however the workspace moves on.

    `arguments`: by name, those that must be the same for each page; any JSON value.
    """

    tool: str
    arguments: Mapping[str, Any]

    def start(self, cursor: str | None, revision: str | None) -> Start:
        """Where the page begins that is asked for with these two.

        Raises InvalidArgumentsError for a cursor that is none, or of other arguments, and for
        another revision than the cursor's.
        """
        if cursor is None:
            return Start(revision)
        found, question, after = _read(cursor)
        if question != self._digest:
            raise not_a_cursor(f"belongs to another {_either(['tool', *self.arguments])}")
        if revision not in {None, found}:
            raise _refused(
                "/revision", "not the cursor's revision", {"revision": "the cursor's, or none"}
            )
        return Start(found, after)

    def cursor(self, revision: str, after: bytes) -> str:
        """The cursor that goes on behind `after`, as text for the caller."""
        text = b"\0".join((revision.encode("ascii"), self._digest, after))
        return base64.urlsafe_b64encode(text).decode("ascii")

    @property
    def _digest(self) -> bytes:
        asked = json.dumps([self.tool, *self.arguments.values()])
        return hashlib.sha256(asked.encode("ascii")).hexdigest()[:16].encode("ascii")


def not_a_cursor(problem: str) -> InvalidArgumentsError:
    """What to raise for a cursor that is none of this tool, or that belongs to another question."""
    return _refused("/cursor", problem, {"from": "nextCursor of the page before"})


def _read(cursor: str) -> tuple[str, bytes, bytes]:
    try:
        text = base64.b64decode(cursor, altchars=b"-_", validate=True)
        revision, _, rest = text.partition(b"\0")
        question, _, after = rest.partition(b"\0")
        found = revision.decode("ascii"), question, after
    except (binascii.Error, ValueError):
        raise not_a_cursor("not a cursor") from None
    if not _DIGEST.match(question):
        raise not_a_cursor("not a cursor")
    return found


def _either(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"


def _refused(pointer: str, problem: str, expected: object) -> InvalidArgumentsError:
    return InvalidArgumentsError(
        f"{pointer}: {problem}", issues=[issue(pointer, problem, expected)]
    )
