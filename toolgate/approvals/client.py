"""The approvals API as methods, with every answer checked before anybody sees it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, cast

from contracts.fingerprint import canonical, fingerprint_of
from toolgate.approvals.errors import (
    ApprovalDamagedError,
    ApprovalNotFoundError,
    ApprovalsUnavailableError,
    failure,
)
from toolgate.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolgate.approvals.transport import Transport

REASON_MAX = 500
PARTS_MAX = 64
"""A call is at most 6 MB long; more parts than this are no call."""
_ID = re.compile(r"apr_[0-9a-f]{32}\Z")


class Summary(TypedDict):
    """One approval in a list. Every text of `subject` is a model's."""

    approvalId: str
    state: str
    tool: str
    tenant: str
    requester: str
    surface: str
    createdAt: str
    approveBy: str
    executeBy: str | None
    have: int
    need: int
    mayVote: bool
    subject: dict[str, Any]


class Vote(TypedDict):
    """What one person said."""

    by: str
    decision: str
    reason: str | None
    at: str


class Approval(Summary):
    """One approval, whole but for its arguments."""

    fingerprint: str
    votes: list[Vote]
    argumentsCharacters: int


class Listing(TypedDict):
    """Who asks, and what there is: open ones first, newest first. `more`: not all are here."""

    me: str
    approvals: list[Summary]
    more: bool


class Shown(TypedDict):
    """Who asks, and one approval."""

    me: str
    approval: Approval


class Before(TypedDict, total=False):
    """What a file holds: `state` is text, missing, binary, too_large or other."""

    path: str
    state: str
    text: str
    revision: str


class Released(TypedDict):
    """What a revision holds, and the newest rows of its history."""

    revision: str
    fileCount: int
    log: list[dict[str, Any]]


class Audit(TypedDict):
    """The events of an approval, and what was published of them."""

    approvalId: str
    events: list[dict[str, Any]]
    heads: list[dict[str, Any]]


@dataclass(frozen=True)
class Statement:
    """What would be carried out, to the letter: `text` is what people agree to.

    `tool` and `major` name the contract, `args` are its arguments by wire names.
    """

    text: str
    fingerprint: str
    tool: str
    major: int
    args: dict[str, Any]


class ApprovalsClient:
    """One stage's approvals, for one person.

    Every method raises ApprovalsError: what the API answered, or that it did not.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Listing:
        """All approvals that the API lists."""
        return cast("Listing", self._get(""))

    def show(self, approval_id: str) -> Shown:
        """One approval."""
        return cast("Shown", self._get(f"/{_checked(approval_id)}"))

    def arguments(self, approval_id: str) -> Statement:
        """What the approval is for.

        Raises ApprovalDamagedError unless it is what the fingerprint was made of.
        """
        return self.statement(self.show(approval_id)["approval"])

    def statement(self, approval: Approval) -> Statement:
        """What a given approval is for; raises as `arguments` does."""
        text = self._text(approval)
        statement = _read(text)
        if statement is None or statement.fingerprint != approval["fingerprint"]:
            raise ApprovalDamagedError(
                "the stored arguments are not those that this approval is for: do not decide on "
                "it, and tell whoever runs this stage"
            )
        name, _, version = approval["tool"].partition("@")
        if (statement.tool, str(statement.major)) != (name, version.split(".", 1)[0]):
            raise ApprovalDamagedError("the stored arguments are for another tool than it says")
        return statement

    def before(self, approval_id: str, path: str) -> Before:
        """What a file that the arguments name holds without the change."""
        asked = f"/{_checked(approval_id)}/before"
        return cast("Before", self._get(asked, {"path": path}))

    def revision(self, approval_id: str) -> Released:
        """The revision that would be released."""
        return cast("Released", self._get(f"/{_checked(approval_id)}/revision"))

    def approve(self, approval_id: str, fingerprint: str, reason: str | None = None) -> Summary:
        """Agree to the arguments of this fingerprint: of the bytes that the person was shown."""
        return self._vote(approval_id, "approve", fingerprint, reason)

    def deny(self, approval_id: str, fingerprint: str, reason: str) -> Summary:
        """Refuse them, and say why: the agent is told."""
        return self._vote(approval_id, "deny", fingerprint, reason)

    def audit(self, approval_id: str) -> Audit:
        """All that happened to an approval."""
        return cast("Audit", self._get(f"/{_checked(approval_id)}/audit"))

    def _vote(
        self, approval_id: str, decision: str, fingerprint: str, reason: str | None
    ) -> Summary:
        said = {"decision": decision, "fingerprint": fingerprint}
        if reason is not None:
            said["reason"] = reason
        body = json.dumps(said).encode()
        answer = self._ask("POST", f"/{_checked(approval_id)}/votes", {}, body)
        return cast("Summary", answer["approval"])

    def _text(self, approval: Approval) -> str:
        path = f"/{_checked(approval['approvalId'])}/arguments"
        parts: list[str] = []
        offset: int | None = 0
        while offset is not None and len(parts) < PARTS_MAX:
            part = self._get(path, {"offset": str(offset)})
            parts.append(part["text"])
            following = part["next"]
            if following is not None and following <= offset:
                break
            offset = following
        return "".join(parts)

    def _get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        return self._ask("GET", path, query or {}, None)

    def _ask(
        self, method: str, path: str, query: Mapping[str, str], body: bytes | None
    ) -> dict[str, Any]:
        status, answer = self._transport.send(method, f"/approvals{path}", query, body)
        try:
            value = json.loads(answer)
        except (ValueError, RecursionError):
            value = None
        if status != 200:
            raise failure(status, value)
        if not isinstance(value, dict):
            raise ApprovalsUnavailableError("INTERNAL", "the approvals API answered no JSON object")
        return value


def checked_reason(text: str | None, *, required: bool) -> str | None:
    """A reason as the API takes it; None for none. Raises CommandError."""
    text = (text or "").strip()
    if required and not text:
        raise CommandError("a refusal needs a reason: the agent is told, so that it can do better")
    if len(text) > REASON_MAX:
        raise CommandError(f"a reason has at most {REASON_MAX} characters; this has {len(text)}")
    return text or None


def _checked(approval_id: str) -> str:
    if not _ID.match(approval_id):
        raise ApprovalNotFoundError("NOT_FOUND", f"{approval_id[:80]} is no approval's id")
    return approval_id


def _read(text: str) -> Statement | None:
    """A statement from its canonical text; None for any other text, even of the same value."""
    try:
        value = json.loads(text)
        if not isinstance(value, dict) or canonical(value) != text:
            return None
        fingerprint = fingerprint_of(text)
    except (ValueError, RecursionError):
        return None
    tool, major, args = value.get("tool"), value.get("major"), value.get("args")
    if not (isinstance(tool, str) and type(major) is int and isinstance(args, dict)):
        return None
    if len(value) != len(("args", "major", "tool")):
        return None
    return Statement(text, fingerprint, tool, major, args)
