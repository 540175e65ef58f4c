"""Where approvals are kept: a table of rows, and a bucket of arguments and published hashes.

Every method raises UnavailableError if a store failed or was busy.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from contracts.errors import InternalError, ToolError
from functions._runtime import telemetry
from functions._runtime.approvals import rows
from functions._runtime.approvals.chain import Event, read_event
from functions._runtime.buckets import put_new
from functions._runtime.failures import error_code, unavailable_on_failure

if TYPE_CHECKING:
    from functions._runtime.approvals.rows import Decision, Request
    from functions._runtime.effect import TransactItem

REFUSED = frozenset({"TransactionCanceledException", "TransactionConflictException"})


@dataclass(frozen=True)
class Ledger:
    """One stage's approvals: low-level clients, and the names of the table and the bucket."""

    dynamodb: Any
    s3: Any
    table: str
    bucket: str

    def request(self, approval_id: str) -> Request | None:
        """What is asked, or None if nothing of that id is."""
        row = self._row(rows.request_key(approval_id))
        return rows.read_request(row) if row else None

    def decision(self, approval_id: str) -> Decision:
        """What people have said."""
        return rows.read_decision(self._row(rows.decision_key(approval_id)))

    def last_event(self, approval_id: str) -> Event:
        """The newest event. Raises InternalError if there is none, for every request has one."""
        found = self._events(approval_id, newest=True)
        if not found:
            raise InternalError("the approval's audit is gone; nothing was changed")
        return read_event(found[0])

    def events(self, approval_id: str) -> list[dict[str, Any]]:
        """All events, oldest first, as they are stored: an audit must see what is wrong."""
        return self._events(approval_id, newest=False)

    def event_item(self, approval_id: str, event: Event) -> TransactItem:
        """The transaction item that adds an event, if no other has its place."""
        return {
            "Put": {
                "TableName": self.table,
                "Item": rows.event_row(approval_id, event),
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        }

    def publish(self, approval_id: str, event: Event) -> None:
        """Write the hash of an event where it is written once.

        It is written after the event, so it may be missing if a process dies between the two; an
        audit says so. A failure is logged and changes nothing about what has happened.
        """
        text = json.dumps({"n": event.n, "hash": event.hash}, sort_keys=True)
        try:
            put_new(
                self.s3,
                bucket=self.bucket,
                key=rows.head_key(approval_id, event.n),
                body=text.encode(),
            )
        except ToolError as error:
            telemetry.failed("the hash of an approval's event was not published", error)

    def keep_arguments(self, key: str, text: str) -> None:
        """Store the arguments' text; its key follows from its hash, so it may be there already."""
        put_new(self.s3, bucket=self.bucket, key=key, body=text.encode())

    def _row(self, key: dict[str, Any]) -> dict[str, Any] | None:
        with unavailable_on_failure():
            answer = self.dynamodb.get_item(TableName=self.table, Key=key, ConsistentRead=True)
        row: dict[str, Any] | None = answer.get("Item")
        return row

    def _events(self, approval_id: str, *, newest: bool) -> list[dict[str, Any]]:
        asked: dict[str, Any] = {
            "TableName": self.table,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": f"AUD#{approval_id}"}},
            "ConsistentRead": True,
            "ScanIndexForward": not newest,
        }
        if newest:
            asked["Limit"] = 1
        found: list[dict[str, Any]] = []
        while True:
            with unavailable_on_failure():
                page = self.dynamodb.query(**asked)
            found += [json.loads(row["event"]["S"]) for row in page["Items"]]
            if newest or "LastEvaluatedKey" not in page:
                return found
            asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def write(dynamodb: Any, items: list[TransactItem]) -> bool:
    """Write all of `items` or none: False if a condition failed or a rival was at it.

    Raises UnavailableError where it is not known, or the store failed; look again then.
    """
    with unavailable_on_failure():
        try:
            dynamodb.transact_write_items(TransactItems=items)
        except ClientError as error:
            if error_code(error) not in REFUSED:
                raise
            return False
    return True
