"""The humans' side of approvals: an HTTP API whose callers IAM has verified. Not a tool.

GET  /approvals                    requests of the last days, newest first, open ones before others
GET  /approvals/{id}               one request, and what people said
GET  /approvals/{id}/arguments     ?offset=  the stored text of what is asked, in parts
GET  /approvals/{id}/before        ?path=    what a file that it names holds
GET  /approvals/{id}/revision      the revision that it names, and its history
GET  /approvals/{id}/audit         its events, and their published hashes
POST /approvals/{id}/votes         {"decision": "approve" | "deny", "fingerprint", "reason"}

Failures: {"error": {"code", "message", "details"}}, with a status that fits the code. Who decides
is who calls; nothing in a body says who that is.
"""

from __future__ import annotations

import base64
import json
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, ValidationError

from contracts import strict_json
from contracts.errors import InternalError, InvalidArgumentsError, NotFoundError, ToolError
from contracts.types import Contract
from functions._approvals import looking, voting
from functions._approvals.identity import decider
from functions._runtime import aws, telemetry
from functions._runtime.approvals import rows
from functions._runtime.approvals.ledger import Ledger
from functions._runtime.deadline import Deadline
from functions._runtime.settings import Desk, desk
from functions._runtime.workspace import Stores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from functions._runtime.approvals.rows import Request

TIMEOUT_S = 15
STATUS: Mapping[str, int] = {
    "VALIDATION": 400,
    "FORBIDDEN": 403,
    "FORBIDDEN_PATH": 403,
    "NOT_FOUND": 404,
    "CONFLICT": 409,
    "TOO_LARGE": 413,
    "TIMEOUT": 503,
    "UNAVAILABLE": 503,
}
BODY_MAX = 10_000
_ID = re.compile(r"apr_[0-9a-f]{32}\Z")


class Body(Contract):
    """A vote as it is sent."""

    decision: Literal["approve", "deny"] = Field(description="What the person says.")
    fingerprint: Annotated[
        str, Field(pattern=r"^1:[0-9a-f]{64}$", description="Of the arguments that were seen.")
    ]
    reason: Annotated[
        str, Field(default="", max_length=rows.REASON_MAX, description="Why; needed to deny.")
    ]


class Visit:
    """One request of one person's, answered."""

    def __init__(self, event: Mapping[str, Any], context: Any, stage: Desk) -> None:
        self._event, self._stage = event, stage
        self._person = decider(event, stage.approver_role)
        self._ledger = Ledger(aws.dynamodb(), aws.s3(), stage.table, stage.bucket)
        self._clock = Deadline(_remaining(context), TIMEOUT_S)

    def answer(self) -> dict[str, Any]:
        """The body. Raises ToolError."""
        route = ROUTES.get(str(self._event.get("routeKey")))
        if route is None:
            raise NotFoundError("there is no such place in this API")
        return route(self)

    def list(self) -> dict[str, Any]:
        """Every request of the last days."""
        now_ms = now()
        requests, more = looking.listed(self._ledger, now_ms)
        said = looking.decisions(self._ledger, requests)
        found = [
            looking.summary(
                self._with_need(one), said.get(one.approval_id, rows.NOTHING), self._person, now_ms
            )
            for one in requests
        ]
        still = {"pending": 0, "approved": 1}
        found.sort(key=lambda one: str(one["createdAt"]), reverse=True)
        found.sort(key=lambda one: still.get(one["state"], 2))
        return {"me": self._person, "approvals": found, "more": more}

    def show(self) -> dict[str, Any]:
        """One request."""
        request = self._request()
        return {
            "me": self._person,
            "approval": {
                **self._told(request),
                "fingerprint": request.fingerprint,
                "argumentsCharacters": request.arguments_characters,
                "votes": looking.votes(self._ledger, request.approval_id),
            },
        }

    def arguments(self) -> dict[str, Any]:
        """A part of what is asked."""
        text = looking.statement(self._ledger, self._request())
        offset = self._query("offset") or "0"
        if not re.fullmatch(r"[0-9]{1,9}", offset):
            raise InvalidArgumentsError("offset is a number of characters")
        return looking.part(text, int(offset))

    def before(self) -> dict[str, Any]:
        """What a file that it names holds."""
        request = self._request()
        text = looking.statement(self._ledger, request)
        return self._files().before(request, text, self._query("path"))

    def revision(self) -> dict[str, Any]:
        """The revision that it names."""
        request = self._request()
        return self._files().revision(request, looking.statement(self._ledger, request))

    def audit(self) -> dict[str, Any]:
        """All that happened, and what was published of it."""
        approval_id = self._request().approval_id
        return {
            "approvalId": approval_id,
            "events": self._ledger.events(approval_id),
            "heads": looking.heads(self._ledger, approval_id),
        }

    def vote(self) -> dict[str, Any]:
        """The person's word."""
        body = _body(self._event)
        agrees, reason = body.decision == "approve", body.reason.strip()
        if not agrees and not reason:
            raise InvalidArgumentsError("a denial says why, in 1-500 characters")
        request = self._request()
        # Nobody decides on what cannot be shown.
        looking.statement(self._ledger, request)
        vote = voting.Vote(
            person=self._person, agrees=agrees, fingerprint=body.fingerprint, reason=reason
        )
        request, decision = voting.cast(
            self._ledger, request.approval_id, vote, need=self._stage.need, now_ms=now
        )
        return {"approval": looking.summary(request, decision, self._person, now())}

    def _told(self, request: Request) -> dict[str, Any]:
        decision = self._ledger.decision(request.approval_id)
        return looking.summary(request, decision, self._person, now())

    def _request(self) -> Request:
        approval_id = str((self._event.get("pathParameters") or {}).get("id"))
        if not _ID.match(approval_id):
            raise NotFoundError("there is no request of that id")
        return voting.found(self._ledger, approval_id, need=self._stage.need)

    def _with_need(self, request: Request) -> Request:
        return replace(request, need=max(request.need, self._stage.need))

    def _query(self, name: str) -> str:
        return str((self._event.get("queryStringParameters") or {}).get(name) or "")

    def _files(self) -> looking.Files:
        stores = Stores(
            dynamodb=aws.dynamodb(),
            s3=aws.s3(),
            table=self._stage.workspace_table,
            bucket=self._stage.workspace_bucket,
        )
        return looking.Files(stores, self._clock, now)


ROUTES: Mapping[str, Callable[[Visit], dict[str, Any]]] = {
    "GET /approvals": Visit.list,
    "GET /approvals/{id}": Visit.show,
    "GET /approvals/{id}/arguments": Visit.arguments,
    "GET /approvals/{id}/before": Visit.before,
    "GET /approvals/{id}/revision": Visit.revision,
    "GET /approvals/{id}/audit": Visit.audit,
    "POST /approvals/{id}/votes": Visit.vote,
}
"""By API Gateway's key of the route; `infra/approvals.py` makes the same ones."""


def handler(event: Any, context: Any) -> dict[str, Any]:
    """Answer one HTTP request, in API Gateway's payload format 2.0."""
    try:
        return _rendered(200, Visit(event, context, desk()).answer())
    except ToolError as error:
        failure = error
    except Exception as error:  # noqa: BLE001  (nothing may leave a handler)
        telemetry.fault(error, tool="approvals")
        failure = InternalError("a fault of ours")
    told = {"code": failure.code, "message": failure.message, "details": failure.details}
    return _rendered(STATUS.get(failure.code, 500), {"error": told})


def now() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def _body(event: Mapping[str, Any]) -> Body:
    text = event.get("body")
    if not isinstance(text, str) or len(text) > BODY_MAX:
        raise InvalidArgumentsError("the body is JSON of at most 10 kB")
    try:
        if event.get("isBase64Encoded"):
            text = str(base64.b64decode(text, validate=True), "utf-8")
        return Body.model_validate(strict_json.parse(text))
    except ValidationError as error:
        where = "/".join(map(str, error.errors(include_input=False)[0]["loc"]))
        raise InvalidArgumentsError(f"/{where} is not what a vote holds") from None
    except ValueError:
        raise InvalidArgumentsError("the body is not JSON in UTF-8") from None


def _rendered(status: int, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "statusCode": status,
        "headers": {"content-type": "application/json", "cache-control": "no-store"},
        "body": json.dumps(body),
    }


def _remaining(context: Any) -> Callable[[], int]:
    """Milliseconds that are left; without a Lambda context the timeout counts."""
    found = getattr(context, "get_remaining_time_in_millis", None)
    if callable(found):
        return found  # type: ignore[no-any-return]
    ends_ns = time.monotonic_ns() + TIMEOUT_S * 1_000_000_000
    return lambda: max(0, (ends_ns - time.monotonic_ns()) // 1_000_000)
