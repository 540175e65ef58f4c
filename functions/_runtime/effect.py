"""How an effect happens exactly once: it commits together with the answer, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from contracts.types import Answer

TransactItem = dict[str, Any]
"""One item of DynamoDB's TransactWriteItems, in the low-level form."""


class PreconditionFailedError(Exception):
    """A condition of the effect's own items failed: look again at the state, then try again."""


class Effect(Protocol):
    """The one door through which a mutating tool changes anything."""

    operation: str
    """The id of the idempotency record: the same for every attempt of one call."""

    def commit(self, items: list[TransactItem], output: Answer) -> None:
        """Write `items` and the answer in one transaction.

        Raises PreconditionFailedError if one of `items` failed its condition, and UnavailableError
        if a newer attempt owns the call or the store failed; nothing was written then.
        """
