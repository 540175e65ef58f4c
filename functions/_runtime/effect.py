"""How an effect happens exactly once: it commits together with the answer, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from contracts.types import Answer

TransactItem = dict[str, Any]
"""One item of DynamoDB's TransactWriteItems, in the low-level form."""


class PreconditionFailedError(Exception):
    """A condition of the effect's own items failed: look again at the state, then try again."""


@dataclass(frozen=True)
class Approved:
    """An approval that stands: its id, who asked, and who agreed, in alphabetical order."""

    approval_id: str
    requester: str
    approvers: tuple[str, ...]


class Effect(Protocol):
    """The one door through which a mutating tool changes anything."""

    operation: str
    """The id of the idempotency record: the same for every attempt of one call."""

    def commit(self, items: list[TransactItem], output: Answer) -> None:
        """Write `items` and the answer in one transaction.

        Raises PreconditionFailedError if one of `items` failed its condition, and UnavailableError
        if a newer attempt owns the call or the store failed; nothing was written then.
        """

    def approve(self) -> Approved:
        """Go on only if people have agreed to this call; `commit` then uses the approval up.

        Raises ForbiddenError where nobody can be asked, ApprovalPendingError, ApprovalDeniedError,
        ApprovalExpiredError, UnavailableError.
        """

    def consume(self) -> Approved:
        """Use the approval up now, ahead of an effect that no transaction can hold.

        For the same operation it is the same approval again, however late. Raises what `approve`
        raises.
        """
