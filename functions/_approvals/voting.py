"""A person's word on a request: one transaction, or a typed refusal and no change.

ForbiddenError  details.reason SELF_APPROVAL: who asks does not decide
ConflictError   details.reason ALREADY_VOTED, ALREADY_APPROVED, DENIED, EXPIRED, CONSUMED,
                FINGERPRINT_DIFFERS (another request was looked at), DAMAGED (what is stored is not
                what was asked)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from contracts.errors import ConflictError, ForbiddenError, NotFoundError, UnavailableError
from functions._runtime.approvals import rows
from functions._runtime.approvals.chain import after
from functions._runtime.approvals.ledger import write

if TYPE_CHECKING:
    from collections.abc import Callable

    from functions._runtime.approvals.chain import Event
    from functions._runtime.approvals.ledger import Ledger
    from functions._runtime.approvals.rows import Decision, Request
    from functions._runtime.effect import TransactItem

TRIES = 32
"""How often a vote is cast again because others vote at the same time."""

_ENDED = {
    "denied": "somebody has denied this request: that is final",
    "expired": "this request has expired",
    "consumed": "this approval was used already",
}


@dataclass(frozen=True, kw_only=True)
class Vote:
    """What one person says, about the arguments whose fingerprint they have seen."""

    person: str
    agrees: bool
    fingerprint: str
    reason: str = ""


def cast(
    ledger: Ledger, approval_id: str, vote: Vote, *, need: int, now_ms: Callable[[], int]
) -> tuple[Request, Decision]:
    """Record a vote; returns where the request stands then. `need` is the least of approvers.

    Raises NotFoundError, UnavailableError, and as the module says.
    """
    for _ in range(TRIES):
        request = found(ledger, approval_id, need=need)
        at_ms, before = now_ms(), ledger.decision(approval_id)
        refuse(request, before, vote, at_ms)
        decision = rows.decided(
            request, before, vote.person, vote.reason, at_ms, agrees=vote.agrees
        )
        said = {"reason": vote.reason} if vote.reason else {}
        event = after(
            ledger.last_event(approval_id),
            "approve" if vote.agrees else "deny",
            by=vote.person,
            at_ms=at_ms,
            **said,
        )
        items = _items(ledger, request, vote, before=before, decision=decision, event=event)
        if write(ledger.dynamodb, items):
            ledger.publish(approval_id, event)
            return request, decision
    raise UnavailableError("others keep voting on this request; try again")


def found(ledger: Ledger, approval_id: str, *, need: int) -> Request:
    """The request, which takes as many people as the stage says, at the least."""
    request = ledger.request(approval_id)
    if request is None:
        raise NotFoundError("there is no request of that id")
    return replace(request, need=max(request.need, need))


def may_vote(request: Request, decision: Decision, person: str, now_ms: int) -> bool:
    """Whether this person's yes would count now."""
    state = rows.state_of(request, decision, now_ms)
    return state == "pending" and person not in _barred(request) | {*decision.approvers}


def refuse(request: Request, decision: Decision, vote: Vote, now_ms: int) -> None:
    """Raise for a vote that does not count."""
    if vote.person in _barred(request):
        raise ForbiddenError("who asks does not decide", reason="SELF_APPROVAL")
    if vote.fingerprint != request.fingerprint:
        raise ConflictError(
            "that is not what this request asks: look at it again", reason="FINGERPRINT_DIFFERS"
        )
    state = rows.state_of(request, decision, now_ms)
    if state in _ENDED:
        raise ConflictError(_ENDED[state], reason=state.upper())
    if not vote.agrees:
        return
    if vote.person in decision.approvers:
        raise ConflictError("you have agreed to this request already", reason="ALREADY_VOTED")
    if state == "approved":
        raise ConflictError("enough people have agreed already", reason="ALREADY_APPROVED")


def _barred(request: Request) -> set[str]:
    return {request.requester, *request.excluded}


def _items(
    ledger: Ledger,
    request: Request,
    vote: Vote,
    *,
    before: Decision,
    decision: Decision,
    event: Event,
) -> list[TransactItem]:
    """The decision as it becomes, one word a person, the request still open, and the event."""
    approval_id = request.approval_id
    put_decision: TransactItem = {
        "TableName": ledger.table,
        "Item": rows.decision_row(request, decision),
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    if before.version:
        put_decision["ConditionExpression"] = "#version = :version"
        put_decision["ExpressionAttributeNames"] = {"#version": "version"}
        put_decision["ExpressionAttributeValues"] = {":version": {"N": str(before.version)}}
    word = {
        **rows.vote_key(approval_id, vote.person),
        "decision": {"S": "approve" if vote.agrees else "deny"},
        "by": {"S": vote.person},
        "reason": {"S": vote.reason},
        "atMs": {"N": str(event.at_ms)},
        "fingerprint": {"S": vote.fingerprint},
    }
    put_word: TransactItem = {
        "TableName": ledger.table,
        "Item": word,
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    if not vote.agrees:
        # Who has agreed may still stop it; nobody takes back a no.
        put_word["ConditionExpression"] = "attribute_not_exists(pk) OR decision = :approve"
        put_word["ExpressionAttributeValues"] = {":approve": {"S": "approve"}}
    still = {
        "TableName": ledger.table,
        "Key": rows.request_key(approval_id),
        "ConditionExpression": (
            "id = :id AND fingerprint = :fingerprint AND attribute_not_exists(consumedBy) "
            "AND requester <> :person AND NOT contains(excluded, :person)"
        ),
        "ExpressionAttributeValues": {
            ":id": {"S": approval_id},
            ":fingerprint": {"S": vote.fingerprint},
            ":person": {"S": vote.person},
        },
    }
    return [
        {"Put": put_decision},
        {"Put": put_word},
        {"ConditionCheck": still},
        ledger.event_item(approval_id, event),
    ]
