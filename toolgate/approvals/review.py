"""One approval, fetched, checked and made readable: what a person sees before they decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolgate.approvals.errors import ApprovalsError
from toolgate.approvals.rendering import blocks, questions

if TYPE_CHECKING:
    from toolgate.approvals.client import (
        Approval,
        ApprovalsClient,
        Before,
        Released,
        Statement,
        Summary,
    )
    from toolgate.approvals.rendering import Block

STATES = {
    "pending": "waits for people",
    "approved": "approved; not carried out yet",
    "denied": "denied",
    "expired": "expired",
    "consumed": "approved and carried out",
}


@dataclass(frozen=True)
class Review:
    """An approval as `me` sees it, with what it is for, to the letter and to be read."""

    me: str
    approval: Approval
    statement: Statement
    blocks: tuple[Block, ...]


def review(client: ApprovalsClient, approval_id: str) -> Review:
    """Fetch all of it.

    What only helps to read is left out with a word if it cannot be had. Raises ApprovalsError, of
    which ApprovalDamagedError if what is stored is not what is asked for.
    """
    shown = client.show(approval_id)
    approval = shown["approval"]
    statement = client.statement(approval)
    asked = questions(statement)
    before = {path: _before(client, approval_id, path) for path in asked.paths}
    released = _released(client, approval_id) if asked.revision else None
    return Review(shown["me"], approval, statement, tuple(blocks(statement, before, released)))


def why_no_yes(approval: Summary, me: str, *, voted: bool) -> str | None:
    """Why this person cannot approve, in words; None if they can."""
    if approval["mayVote"]:
        return None
    if approval["state"] != "pending":
        return f"Nothing to approve any more: it is {STATES.get(approval['state'], 'decided')}."
    if approval["requester"] == me:
        return "You asked for this yourself, so others decide."
    if voted:
        return "You have approved this; others decide now."
    return "You are not one of those who may decide on this."


def may_deny(approval: Summary, me: str, *, voted: bool) -> bool:
    """Whether this person's no would count: it does until the call is carried out."""
    if approval["state"] == "pending":
        return approval["mayVote"] or voted
    return approval["state"] == "approved" and approval["requester"] != me


def has_voted(approval: Approval, me: str) -> bool:
    """Whether this person has said something."""
    return any(vote["by"] == me for vote in approval["votes"])


def _before(client: ApprovalsClient, approval_id: str, path: str) -> Before:
    try:
        return client.before(approval_id, path)
    except ApprovalsError as error:
        return {"path": path, "state": "unread", "text": str(error)}


def _released(client: ApprovalsClient, approval_id: str) -> Released | None:
    try:
        return client.revision(approval_id)
    except ApprovalsError:
        return None
