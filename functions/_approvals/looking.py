"""What a person looks at before deciding: requests, stored arguments, files, history, the audit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from contracts.errors import (
    ConflictError,
    ForbiddenPathError,
    InvalidArgumentsError,
    NotFoundError,
    TooLargeError,
)
from contracts.fingerprint import fingerprint_of
from functions._approvals.voting import may_vote
from functions._runtime.approvals import rows
from functions._runtime.approvals.rows import timestamp
from functions._runtime.failures import ABSENT, error_code, unavailable_on_failure
from functions._runtime.workspace import Workspace
from functions._runtime.workspace.heads import WorkspaceName, log_key, parse_revision

if TYPE_CHECKING:
    from collections.abc import Callable

    from functions._runtime.approvals.ledger import Ledger
    from functions._runtime.approvals.rows import Decision, Request
    from functions._runtime.workspace import Stores
    from functions._runtime.workspace.store import Clock

INDEX = "open"
LISTED_MAX = 1_000
LISTED_MS = 7 * 86_400_000
"""How long after its first clock a request is still listed: it may wait to be acted on."""
BATCH = 100
"""What one BatchGetItem takes."""
PART_CHARACTERS = 500_000
BEFORE_MAX_BYTES = 1_000_000
LOG_ROWS = 20
FILES_MAX = 10_000


def summary(request: Request, decision: Decision, person: str, now_ms: int) -> dict[str, Any]:
    """A request as a list shows it. Its texts are the agent's own, and whatever it wanted."""
    late = decision.execute_by_ms
    return {
        "approvalId": request.approval_id,
        "state": rows.state_of(request, decision, now_ms),
        "tool": f"{request.tool}@{request.version}",
        "tenant": request.tenant,
        "requester": request.requester,
        "surface": request.surface,
        "createdAt": timestamp(request.created_ms),
        "approveBy": timestamp(request.approve_by_ms),
        "executeBy": timestamp(late) if late is not None else None,
        "have": len(decision.approvers),
        "need": request.need,
        "mayVote": may_vote(request, decision, person, now_ms),
        "subject": request.subject,
    }


def listed(ledger: Ledger, now_ms: int) -> tuple[list[Request], bool]:
    """The requests of the last days, newest first, and whether there are more than these."""
    asked: dict[str, Any] = {
        "TableName": ledger.table,
        "IndexName": INDEX,
        "KeyConditionExpression": "kind = :kind AND approveByMs > :since",
        "ExpressionAttributeValues": {
            ":kind": {"S": rows.KIND},
            ":since": {"N": str(now_ms - LISTED_MS)},
        },
        "ScanIndexForward": False,
    }
    found: list[Request] = []
    while len(found) <= LISTED_MAX:
        with unavailable_on_failure():
            page = ledger.dynamodb.query(**asked)
        found += map(rows.read_request, page["Items"])
        if "LastEvaluatedKey" not in page:
            break
        asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    return found[:LISTED_MAX], len(found) > LISTED_MAX


def decisions(ledger: Ledger, requests: list[Request]) -> dict[str, Decision]:
    """What people have said about each of the requests, by its id."""
    found: dict[str, Decision] = {}
    for start in range(0, len(requests), BATCH):
        wanted: Any = {
            ledger.table: {
                "Keys": [
                    rows.decision_key(one.approval_id) for one in requests[start : start + BATCH]
                ],
                "ConsistentRead": True,
            }
        }
        while wanted:
            with unavailable_on_failure():
                answer = ledger.dynamodb.batch_get_item(RequestItems=wanted)
            for row in answer["Responses"].get(ledger.table, []):
                found[row["id"]["S"]] = rows.read_decision(row)
            wanted = answer.get("UnprocessedKeys")
    return found


def votes(ledger: Ledger, approval_id: str) -> list[dict[str, Any]]:
    """What each person said, the last time."""
    with unavailable_on_failure():
        page = ledger.dynamodb.query(
            TableName=ledger.table,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :vote)",
            ExpressionAttributeValues={
                ":pk": rows.decision_key(approval_id)["pk"],
                ":vote": rows.vote_key(approval_id, "")["sk"],
            },
            ConsistentRead=True,
        )
    return [
        {
            "by": row["by"]["S"],
            "decision": row["decision"]["S"],
            "reason": row["reason"]["S"],
            "at": timestamp(int(row["atMs"]["N"])),
        }
        for row in sorted(page["Items"], key=lambda row: int(row["atMs"]["N"]))
    ]


def statement(ledger: Ledger, request: Request) -> str:
    """The stored text of what is asked.

    Raises ConflictError, `details.reason` DAMAGED, if it is not what the fingerprint says.
    """
    damaged = ConflictError(
        "what is stored of this request is not what was asked: nobody can decide on it",
        reason="DAMAGED",
    )
    with unavailable_on_failure():
        try:
            answer = ledger.s3.get_object(Bucket=ledger.bucket, Key=request.arguments_key)
        except ClientError as error:
            if error_code(error) not in ABSENT:
                raise
            raise damaged from None
        with answer["Body"] as body:
            data = body.read()
    try:
        text = str(data, "utf-8")
    except UnicodeDecodeError:
        raise damaged from None
    if fingerprint_of(text) != request.fingerprint:
        raise damaged
    return text


def part(text: str, offset: int) -> dict[str, Any]:
    """One part of a text, and where the next one begins."""
    if not 0 <= offset <= len(text):
        raise InvalidArgumentsError("offset is not a place in this text")
    end = offset + PART_CHARACTERS
    return {"text": text[offset:end], "next": end if end < len(text) else None}


def heads(ledger: Ledger, approval_id: str) -> list[dict[str, Any]]:
    """What was published of the request's audit: `{n, hash}`, in order."""
    found = []
    with unavailable_on_failure():
        pages = ledger.s3.get_paginator("list_objects_v2").paginate(
            Bucket=ledger.bucket, Prefix=rows.head_key(approval_id, 0).rpartition("/")[0] + "/"
        )
        for page in pages:
            for one in page.get("Contents", []):
                with ledger.s3.get_object(Bucket=ledger.bucket, Key=one["Key"])["Body"] as body:
                    found.append(_head(one["Key"], body.read()))
    return found


def _head(key: str, data: bytes) -> dict[str, Any]:
    """A published hash; an audit must tell of one that cannot be read, so it is no error here."""
    try:
        head = json.loads(data)
        return {"n": head["n"], "hash": head["hash"]}
    except (KeyError, TypeError, ValueError):
        return {"n": None, "hash": None, "key": key[:200]}


@dataclass(frozen=True)
class Files:
    """The workspace that a request is about, to look at."""

    stores: Stores
    clock: Clock
    now_ms: Callable[[], int]

    def before(self, request: Request, text: str, path: str) -> dict[str, Any]:
        """What a file that the request names holds, at the revision that it expects if it does.

        Raises ForbiddenPathError for a path that the request does not name.
        """
        said = json.loads(text)["args"]
        if path not in _paths(said):
            raise ForbiddenPathError("the request does not name that path", reason="NOT_NAMED")
        workspace = self._workspace(request.tenant, said)
        snapshot = workspace.at(said.get("expectedRevision"))
        answer = {"path": path, "revision": snapshot.revision}
        kind = snapshot.kind(path)
        if kind not in {"file", "executable"}:
            return answer | {"state": "missing" if kind == "missing" else "other"}
        try:
            data = snapshot.read(path, max_bytes=BEFORE_MAX_BYTES).data or b""
        except TooLargeError:
            return answer | {"state": "too_large"}
        try:
            found = str(data, "utf-8")
        except UnicodeDecodeError:
            return answer | {"state": "binary"}
        return answer | ({"state": "binary"} if "\0" in found else {"state": "text", "text": found})

    def revision(self, request: Request, text: str) -> dict[str, Any]:
        """The revision that the request names: how many files, and how it came about."""
        said = json.loads(text)["args"]
        revision = said.get("revision", said.get("expectedRevision"))
        if not isinstance(revision, str):
            raise NotFoundError("the request names no revision")
        head = parse_revision(revision)
        snapshot = self._workspace(request.tenant, said).at(revision)
        count = 0
        for _ in snapshot.walk():
            count += 1
            if count > FILES_MAX:
                break
        return {
            "revision": revision,
            "fileCount": count,
            "log": self._log(WorkspaceName(request.tenant, said["repoRoot"]), head.seq),
        }

    def _workspace(self, tenant: str, said: dict[str, Any]) -> Workspace:
        root = said.get("repoRoot")
        if not isinstance(root, str):
            raise NotFoundError("the request names no workspace")
        return Workspace(
            self.stores,
            tenant=tenant,
            repo_root=root,
            deadline=self.clock,
            now_ms=self.now_ms,
            by="",
            tool="",
        )

    def _log(self, name: WorkspaceName, seq: int) -> list[dict[str, Any]]:
        with unavailable_on_failure():
            page = self.stores.dynamodb.query(
                TableName=self.stores.table,
                KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
                ExpressionAttributeValues={
                    ":pk": {"S": name.pk},
                    ":first": {"S": log_key(0)},
                    ":last": {"S": log_key(seq)},
                },
                ScanIndexForward=False,
                Limit=LOG_ROWS,
                ConsistentRead=True,
            )
        return [
            {
                "revision": f"{int(row['sk']['S'].rpartition('#')[2])}-{row['tree']['S']}",
                "tool": row["tool"]["S"],
                "by": row["by"]["S"],
                "at": timestamp(int(row["atMs"]["N"])),
                "message": row["message"]["S"],
                "paths": [path["S"] for path in row["paths"]["L"]],
                "more": int(row["more"]["N"]),
            }
            for row in page["Items"]
        ]


def _paths(said: dict[str, Any]) -> set[str]:
    """The paths that a request names, whichever tool's it is."""
    entries = [said, *(said["files"] if isinstance(said.get("files"), list) else [])]
    return {
        value
        for entry in entries
        if isinstance(entry, dict)
        for name in ("path", "newPath")
        if isinstance(value := entry.get(name), str)
    }
