"""What became of calls: open records, one record, and a person's word on one that is stuck.

A record is stuck if its attempt died and nobody repeated the call, or if its effect lies outside
the transaction and nobody could tell whether it happened (OUTCOME_UNKNOWN). Resolving never edits
a record blindly: it is one transaction, conditional on the record being as it was seen, and it
leaves an audit row.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from botocore.exceptions import ClientError
from pydantic import ValidationError

from contracts.fingerprint import record_id
from contracts.results import success_model
from toolgate.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.results import Result
    from contracts.spec import ToolSpec

AUDIT = "#resolved#"
"""Stands in the id of an audit row: `{record id}#resolved#{atMs}`."""
UNKNOWN = "OUTCOME_UNKNOWN"

Verdict = Literal["done", "not-done"]


@dataclass(frozen=True)
class Record:
    """A call's record. `lease_ms`: until when its attempt may run, in ms since the epoch."""

    id: str
    status: str
    attempt: int
    owner: str
    lease_ms: int
    expires_s: int
    answer: Result | None

    def stuck_because(self, now_ms: int) -> str | None:
        """Why a person may have to look at it, or None."""
        if self.status == "INPROGRESS" and self.lease_ms < now_ms:
            return "released, not repeated" if self.lease_ms == 0 else "its attempt died"
        if self.answer and not self.answer["ok"] and self.answer["error"]["code"] == UNKNOWN:
            return "its outcome is unknown"
        return None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Calls:
    """The records of one stage."""

    def __init__(self, dynamodb: Any, table: str) -> None:
        self._dynamodb = dynamodb
        self._table = table

    def stuck(self, now_ms: int) -> Iterator[Record]:
        """Records that a person may have to look at; reads the whole table."""
        pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._table)
        for page in pages:
            for item in page["Items"]:
                if AUDIT not in item["id"]["S"]:
                    record = _record(item)
                    if record.stuck_because(now_ms):
                        yield record

    def find(self, spec: ToolSpec, tenant: str, key: str) -> Record:
        """The record of a key. Raises CommandError if there is none."""
        identity = record_id(spec, tenant, key)
        item = self._dynamodb.get_item(
            TableName=self._table, Key={"id": {"S": identity}}, ConsistentRead=True
        ).get("Item")
        if item is None:
            raise CommandError(f"{spec.record_prefix} has no record of that key for {tenant}")
        return _record(item)

    def resolve(
        self,
        spec: ToolSpec,
        record: Record,
        verdict: Verdict,
        *,
        reason: str,
        by: str,
        now_ms: int,
        result: Result | None = None,
    ) -> None:
        """Record a person's word: `not-done` lets the identical call run again, `done` answers it.

        Raises CommandError if the record is not stuck, if an answer is missing or breaks its
        contract, or if the record has changed meanwhile.
        """
        why = record.stuck_because(now_ms)
        if why is None:
            raise CommandError("that call is not stuck: nothing to resolve")
        if verdict == "done":
            update = self._answered(spec, record, result)
        elif result is not None:
            raise CommandError("a result goes with --as done")
        else:
            update = self._reopened(record)
        audit = {
            "id": {"S": f"{record.id}{AUDIT}{now_ms}"},
            "verdict": {"S": verdict},
            "reason": {"S": reason},
            "by": {"S": by},
            "atMs": {"N": str(now_ms)},
            "was": {"S": json.dumps(record.as_dict(), sort_keys=True)},
        }
        put = {
            "TableName": self._table,
            "Item": audit,
            "ConditionExpression": "attribute_not_exists(id)",
        }
        try:
            self._dynamodb.transact_write_items(TransactItems=[{"Update": update}, {"Put": put}])
        except ClientError as error:
            if error.response["Error"]["Code"] != "TransactionCanceledException":
                raise
            raise CommandError("the record has changed meanwhile; look at it again") from None

    def _answered(self, spec: ToolSpec, record: Record, result: Result | None) -> dict[str, Any]:
        if record.status == "INPROGRESS":
            raise CommandError(
                "its effect commits together with its answer, so an open record means not done"
            )
        if result is None:
            raise CommandError(
                "--as done needs --result, the answer that the call would have given"
            )
        try:
            success_model(spec).model_validate_json(json.dumps(result))
        except ValidationError as error:
            raise CommandError(
                f"the result breaks the contract in {error.error_count()} places"
            ) from None
        return self._update(
            record, "SET #data = :data", {":data": {"S": json.dumps(result, ensure_ascii=False)}}
        )

    def _reopened(self, record: Record) -> dict[str, Any]:
        """Released: the next call with the same arguments takes it over; others conflict."""
        return self._update(
            record,
            "SET #status = :open, #lease = :zero REMOVE #data",
            {":open": {"S": "INPROGRESS"}, ":zero": {"N": "0"}},
        )

    def _update(self, record: Record, what: str, values: dict[str, Any]) -> dict[str, Any]:
        used = {"#status": "status", "#owner": "owner", "#attempt": "attempt"}
        used |= {"#lease": "in_progress_expiration"} if "#lease" in what else {}
        used |= {"#data": "data"}
        return {
            "TableName": self._table,
            "Key": {"id": {"S": record.id}},
            "UpdateExpression": what,
            "ConditionExpression": "#status = :was AND #owner = :owner AND #attempt = :attempt",
            "ExpressionAttributeNames": used,
            "ExpressionAttributeValues": {
                **values,
                ":was": {"S": record.status},
                ":owner": {"S": record.owner},
                ":attempt": {"N": str(record.attempt)},
            },
        }


def _record(item: dict[str, Any]) -> Record:
    data = item.get("data", {}).get("S")
    return Record(
        id=item["id"]["S"],
        status=item["status"]["S"],
        attempt=int(item["attempt"]["N"]),
        owner=item["owner"]["S"],
        lease_ms=int(item["in_progress_expiration"]["N"]),
        expires_s=int(item["expiration"]["N"]),
        answer=json.loads(data) if data else None,
    )
