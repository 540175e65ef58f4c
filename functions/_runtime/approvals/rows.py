"""The rows of an approval, and what they come to at a moment. Pure.

pk REQ#{id}  sk REQUEST        a Request; `kind` and `approveByMs` are the index of open requests
pk DEC#{id}  sk STATE          a Decision; VOTE#{person} what that person said, the last time
pk AUD#{id}  sk EVENT#{n:06}   an Event
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from contracts.fingerprint import canonical
from functions._runtime.approvals.chain import Event

if TYPE_CHECKING:
    from collections.abc import Mapping

State = Literal["pending", "approved", "denied", "expired", "consumed"]
Row = dict[str, Any]
"""An item in DynamoDB's low-level form."""

REQUEST, STATE = "REQUEST", "STATE"
KIND = "REQUEST"
"""The one partition of the index `open`, sorted by approveByMs."""
REASON_MAX = 500


@dataclass(frozen=True)
class Binding:
    """What an approval holds for: these arguments by this requester with this key, in a stage."""

    stage: str
    tenant: str
    requester: str
    tool: str
    major: int
    fingerprint: str
    key: str
    agent: str | None = None
    """Who acts for the requester: another one is another request, of which it may not decide."""

    @property
    def approval_id(self) -> str:
        """The approval's id: the same request has the same one, and no other has it."""
        said = [
            self.stage,
            self.tenant,
            self.requester,
            f"{self.tool}@{self.major}",
            self.fingerprint,
            self.key,
            *([self.agent] if self.agent else []),
        ]
        return f"apr_{hashlib.sha256(canonical(said).encode()).hexdigest()[:32]}"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked, as stored. Times are milliseconds since the epoch."""

    approval_id: str
    tenant: str
    requester: str
    excluded: tuple[str, ...]
    surface: str
    tool: str
    version: str
    fingerprint: str
    subject: dict[str, Any]
    """What it is about, in a few words of the arguments: for lists, and to be trusted by no one."""
    arguments_characters: int
    need: int
    created_ms: int
    approve_by_ms: int
    execute_within_s: int
    paged: bool = False
    consumed_by: str | None = None

    @property
    def arguments_key(self) -> str:
        """Where the arguments' canonical text is, in the bucket of approvals."""
        return arguments_key(self.tenant, self.fingerprint)


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What people have said so far; `version` counts their words."""

    state: Literal["PENDING", "APPROVED", "DENIED"] = "PENDING"
    approvers: tuple[str, ...] = ()
    denied_by: str | None = None
    reason: str | None = None
    execute_by_ms: int | None = None
    version: int = 0
    about: tuple[str, str] | None = None
    """The id and the fingerprint that it was made for; None while nobody has said anything."""

    def fits(self, request: Request) -> bool:
        """Whether it was made for this request."""
        return self.about in {None, (request.approval_id, request.fingerprint)}


NOTHING = Decision()
"""What people have said when none has."""


def state_of(request: Request, decision: Decision, now_ms: int) -> State:
    """Where an approval stands. A decision outlasts the clock that it came in time for."""
    if request.consumed_by is not None:
        return "consumed"
    if decision.state == "DENIED":
        return "denied"
    if decision.state == "APPROVED":
        return "approved" if now_ms < (decision.execute_by_ms or 0) else "expired"
    return "pending" if now_ms < request.approve_by_ms else "expired"


def arguments_key(tenant: str, fingerprint: str) -> str:
    """The object that holds the text whose hash is the fingerprint."""
    return f"arguments/{tenant}/{fingerprint.rpartition(':')[2]}.json"


def head_key(approval_id: str, n: int) -> str:
    """The object that publishes an event's hash."""
    return f"heads/{approval_id}/{n:06d}.json"


def request_key(approval_id: str) -> Row:
    """Key of the request's row."""
    return {"pk": {"S": f"REQ#{approval_id}"}, "sk": {"S": REQUEST}}


def decision_key(approval_id: str) -> Row:
    """Key of the decision's row."""
    return {"pk": {"S": f"DEC#{approval_id}"}, "sk": {"S": STATE}}


def vote_key(approval_id: str, person: str) -> Row:
    """Key of one person's word."""
    return {"pk": {"S": f"DEC#{approval_id}"}, "sk": {"S": f"VOTE#{person}"}}


def request_row(request: Request) -> Row:
    """The row of a new request."""
    return {
        **request_key(request.approval_id),
        "kind": {"S": KIND},
        "id": {"S": request.approval_id},
        "tenant": {"S": request.tenant},
        "requester": {"S": request.requester},
        "excluded": {"SS": list(request.excluded)},
        "surface": {"S": request.surface},
        "tool": {"S": request.tool},
        "version": {"S": request.version},
        "fingerprint": {"S": request.fingerprint},
        "subject": {"S": json.dumps(request.subject, ensure_ascii=True)},
        "argumentsCharacters": {"N": str(request.arguments_characters)},
        "need": {"N": str(request.need)},
        "createdMs": {"N": str(request.created_ms)},
        "approveByMs": {"N": str(request.approve_by_ms)},
        "executeWithinS": {"N": str(request.execute_within_s)},
    }


def read_request(row: Mapping[str, Any]) -> Request:
    """A request from its row."""
    return Request(
        approval_id=row["id"]["S"],
        tenant=row["tenant"]["S"],
        requester=row["requester"]["S"],
        excluded=tuple(row["excluded"]["SS"]),
        surface=row["surface"]["S"],
        tool=row["tool"]["S"],
        version=row["version"]["S"],
        fingerprint=row["fingerprint"]["S"],
        subject=json.loads(row["subject"]["S"]),
        arguments_characters=int(row["argumentsCharacters"]["N"]),
        need=int(row["need"]["N"]),
        created_ms=int(row["createdMs"]["N"]),
        approve_by_ms=int(row["approveByMs"]["N"]),
        execute_within_s=int(row["executeWithinS"]["N"]),
        paged="pagedMs" in row,
        consumed_by=row.get("consumedBy", {}).get("S"),
    )


def read_decision(row: Mapping[str, Any] | None) -> Decision:
    """A decision from its row; without a row nobody has said anything."""
    if not row:
        return NOTHING
    execute_by = row.get("executeByMs", {}).get("N")
    return Decision(
        state=row["state"]["S"],
        approvers=tuple(one["S"] for one in row["approvers"]["L"]),
        denied_by=row.get("deniedBy", {}).get("S"),
        reason=row.get("reason", {}).get("S"),
        execute_by_ms=int(execute_by) if execute_by else None,
        version=int(row["version"]["N"]),
        about=(row["id"]["S"], row["fingerprint"]["S"]),
    )


def decided(
    request: Request, decision: Decision, person: str, reason: str, now_ms: int, *, agrees: bool
) -> Decision:
    """The decision once this person has spoken too: enough yeses approve, one no denies."""
    if not agrees:
        return replace(
            decision,
            state="DENIED",
            denied_by=person,
            reason=reason,
            version=decision.version + 1,
        )
    approvers = (*decision.approvers, person)
    enough = len(approvers) >= request.need
    return replace(
        decision,
        state="APPROVED" if enough else "PENDING",
        approvers=approvers,
        execute_by_ms=now_ms + request.execute_within_s * 1000 if enough else None,
        version=decision.version + 1,
    )


def decision_row(request: Request, decision: Decision) -> Row:
    """The row of a decision, bound to what was decided on."""
    row: Row = {
        **decision_key(request.approval_id),
        "id": {"S": request.approval_id},
        "fingerprint": {"S": request.fingerprint},
        "state": {"S": decision.state},
        "approvers": {"L": [{"S": name} for name in decision.approvers]},
        "version": {"N": str(decision.version)},
    }
    if decision.execute_by_ms is not None:
        row["executeByMs"] = {"N": str(decision.execute_by_ms)}
    if decision.denied_by is not None:
        row["deniedBy"] = {"S": decision.denied_by}
        row["reason"] = {"S": decision.reason or ""}
    return row


def event_row(approval_id: str, event: Event) -> Row:
    """The row of an event."""
    return {
        "pk": {"S": f"AUD#{approval_id}"},
        "sk": {"S": f"EVENT#{event.n:06d}"},
        "event": {"S": json.dumps(event.as_dict(), ensure_ascii=True, sort_keys=True)},
    }


def timestamp(ms: int) -> str:
    """`2026-12-01T10:00:00Z`; text, because people and models read it better than a number."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
