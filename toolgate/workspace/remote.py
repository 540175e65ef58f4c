"""A workspace as people's commands see it: its head, history and objects, without a deadline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from contracts.errors import NotFoundError
from functions._runtime.failures import error_code, unavailable_on_failure
from functions._runtime.workspace.heads import (
    MAIN,
    Head,
    Stores,
    WorkspaceName,
    log_key,
    read_head,
)
from functions._runtime.workspace.snapshot import Snapshot
from functions._runtime.workspace.store import ObjectCache, ObjectStore

if TYPE_CHECKING:
    from collections.abc import Iterator


class Unhurried:
    """The deadline of a person at a terminal, who can interrupt: none."""

    def check(self) -> None:
        """Never raises."""


@dataclass(frozen=True)
class LogEntry:
    """One row of history. `at_ms` is milliseconds since the epoch, `more` counts unnamed paths.

    `parent` is the tree before, None in the first row; `operation` is the idempotency record of the
    call that made the change.
    """

    seq: int
    tree: str
    parent: str | None
    operation: str
    tool: str
    by: str
    at_ms: int
    message: str
    paths: tuple[str, ...]
    more: int

    @property
    def revision(self) -> str:
        """The revision that this row made."""
        return f"{self.seq}-{self.tree}"


class Remote:
    """One workspace. Its methods raise UnavailableError if a store fails."""

    def __init__(self, stores: Stores, tenant: str, repo_root: str) -> None:
        self.stores = stores
        self.name = WorkspaceName(tenant, repo_root)
        self.clock = Unhurried()
        self.objects = ObjectStore(
            s3=stores.s3,
            bucket=stores.bucket,
            prefix=self.name.prefix,
            clock=self.clock,
            cache=ObjectCache(),
        )

    def head(self) -> Head:
        """Where it stands. Raises NotFoundError."""
        return read_head(self.stores, self.name, self.clock)

    def head_if_any(self) -> Head | None:
        """Where it stands, or None if there is no such workspace."""
        try:
            return self.head()
        except NotFoundError:
            return None

    def snapshot(self, head: Head) -> Snapshot:
        """One revision, to read."""
        return Snapshot(head, self.objects, self.clock)

    def row(self, seq: int) -> LogEntry | None:
        """One row of history."""
        with unavailable_on_failure():
            answer = self.stores.dynamodb.get_item(
                TableName=self.stores.table, Key=self.name.key(log_key(seq)), ConsistentRead=True
            )
        item = answer.get("Item")
        return _entry(item) if item else None

    def rows(
        self, first: int = 1, last: int = 10**12 - 1, *, newest_first: bool = False
    ) -> Iterator[LogEntry]:
        """Rows of history from `first` to `last`, page after page as they are asked for."""
        if first > last:
            return  # DynamoDB refuses a range whose ends are reversed
        query: dict[str, Any] = {
            "TableName": self.stores.table,
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last",
            "ExpressionAttributeValues": {
                ":pk": {"S": self.name.pk},
                ":first": {"S": log_key(first)},
                ":last": {"S": log_key(last)},
            },
            "ConsistentRead": True,
            "ScanIndexForward": not newest_first,
        }
        while True:
            with unavailable_on_failure():
                page = self.stores.dynamodb.query(**query)
            for item in page["Items"]:
                yield _entry(item)
            if "LastEvaluatedKey" not in page:
                return
            query["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def object_ids(self) -> set[str]:
        """Ids of all objects that it holds, whether a revision leads to them or not."""
        query = {"Bucket": self.stores.bucket, "Prefix": self.name.prefix}
        found: set[str] = set()
        while True:
            with unavailable_on_failure():
                page = self.stores.s3.list_objects_v2(**query)
            keys = (item["Key"].removeprefix(self.name.prefix) for item in page.get("Contents", []))
            found.update(key.replace("/", "", 1) for key in keys)
            if not page.get("IsTruncated"):
                return found
            query["ContinuationToken"] = page["NextContinuationToken"]

    def transact(self, items: list[dict[str, Any]]) -> bool:
        """Write all items or none; False if a condition failed."""
        with unavailable_on_failure():
            try:
                self.stores.dynamodb.transact_write_items(TransactItems=items)
            except ClientError as error:
                reasons = error.response.get("CancellationReasons", [])
                refused = any(r.get("Code") == "ConditionalCheckFailed" for r in reasons)
                if error_code(error) != "TransactionCanceledException" or not refused:
                    raise
                return False
        return True


def _entry(item: dict[str, Any]) -> LogEntry:
    return LogEntry(
        seq=int(item["sk"]["S"].removeprefix(f"LOG#{MAIN}#")),
        tree=item["tree"]["S"],
        parent=item["parent"]["S"] if "parent" in item else None,
        operation=item["op"]["S"],
        tool=item["tool"]["S"],
        by=item["by"]["S"],
        at_ms=int(item["atMs"]["N"]),
        message=item["message"]["S"],
        paths=tuple(path["S"] for path in item["paths"]["L"]),
        more=int(item["more"]["N"]),
    )
