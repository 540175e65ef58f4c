"""S3 and DynamoDB that answer at once from memory, and count: what is timed is our own work."""

from __future__ import annotations

import io
import threading
from collections import Counter
from typing import Any

from botocore.exceptions import ClientError

from functions._runtime.effect import Effect
from functions._runtime.workspace import ObjectCache, Stores, Workspace
from tests.workspaces import NoHurry, StoredWorkspaces

ROOT = "/workspace/app"


class Memory:
    """Enough of both services for one workspace: objects written once, rows, one head."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.rows: dict[tuple[str, str], dict[str, Any]] = {}
        self.calls: Counter[str] = Counter()
        self._lock = threading.Lock()

    def get_object(self, *, Key: str, **_: Any) -> dict[str, Any]:  # noqa: N803
        self._count("GetObject")
        data = self.objects[Key]
        return {"ContentLength": len(data), "Body": io.BytesIO(data)}

    def put_object(self, *, Key: str, Body: bytes, **_: Any) -> dict[str, Any]:  # noqa: N803
        self._count("PutObject")
        if Key in self.objects:
            raise ClientError({"Error": {"Code": "PreconditionFailed"}}, "PutObject")
        self.objects[Key] = Body
        return {}

    def batch_get_item(self, *, RequestItems: dict[str, Any], **_: Any) -> dict[str, Any]:  # noqa: N803
        self._count("BatchGetItem")
        ((table, wanted),) = RequestItems.items()
        keys = [(key["pk"]["S"], key["sk"]["S"]) for key in wanted["Keys"]]
        return {"Responses": {table: [self.rows[key] for key in keys if key in self.rows]}}

    def transact_write_items(self, *, TransactItems: list[Any], **_: Any) -> dict[str, Any]:  # noqa: N803
        """Writes without asking for the conditions: there is nobody else here."""
        self._count("TransactWriteItems")
        for item in TransactItems:
            if "Put" in item:
                row = item["Put"]["Item"]
                self.rows[row["pk"]["S"], row["sk"]["S"]] = row
            else:
                update = item["Update"]
                key, values = update["Key"], update["ExpressionAttributeValues"]
                self.rows[key["pk"]["S"], key["sk"]["S"]] = {
                    **key,
                    "seq": values[":seq"],
                    "tree": values[":tree"],
                }
        return {}

    def stores(self) -> Stores:
        """Both clients, as the workspace takes them."""
        return Stores(self, self, "t", "b")

    def fill(self, files: dict[str, bytes]) -> None:
        """Make the workspace ROOT, holding these files."""
        StoredWorkspaces(self.stores()).create(ROOT, files)
        self.calls.clear()

    def workspace(self, tool: str, cache: ObjectCache, effect: Effect | None = None) -> Workspace:
        """The workspace ROOT for one call of a tool."""
        return Workspace(
            self.stores(),
            tenant="default",
            repo_root=ROOT,
            deadline=NoHurry(),
            now_ms=lambda: 0,
            by="benchmark",
            tool=tool,
            effect=effect,
            cache=cache,
        )

    def _count(self, operation: str) -> None:
        with self._lock:
            self.calls[operation] += 1
