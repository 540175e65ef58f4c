"""Where the next page begins: a revision and a place in it, as one opaque string."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from contracts.errors import InvalidArgumentsError
from contracts.issues import issue


@dataclass(frozen=True)
class Cursor:
    """A place in a listing; the listing stays the same however the workspace moves on.

    `after` is the tool's own: for a list of paths, the last path given.
    """

    revision: str
    after: bytes

    def write(self) -> str:
        """The cursor as text for the caller."""
        text = self.revision.encode("ascii") + b"\0" + self.after
        return base64.urlsafe_b64encode(text).decode("ascii")

    @classmethod
    def read(cls, text: str | None) -> Cursor | None:
        """The cursor that `write` gave. Raises InvalidArgumentsError for anything else."""
        if text is None:
            return None
        try:
            revision, _, after = base64.b64decode(text, altchars=b"-_", validate=True).partition(
                b"\0"
            )
            return cls(revision.decode("ascii"), after)
        except (binascii.Error, ValueError):
            raise not_a_cursor("not a cursor") from None


def not_a_cursor(problem: str) -> InvalidArgumentsError:
    """What to raise for a cursor that is none of this tool, or that belongs to another question."""
    return InvalidArgumentsError(
        f"/cursor: {problem}",
        issues=[issue("/cursor", problem, {"from": "nextCursor of the page before"})],
    )
