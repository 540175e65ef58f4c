"""S3 and DynamoDB that answer at once from memory, and count: what is timed is our own work."""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

from botocore.exceptions import ClientError

from functions._runtime.workspace import FileWrite, Stores
from functions._runtime.workspace.edits import change_tree
from functions._runtime.workspace.heads import Commit, WorkspaceName, commit_items, meta_item
from functions._runtime.workspace.objects import EMPTY_TREE, frame


class Memory:
    """Enough of both services for one workspace: objects written once, rows, one head."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.rows: dict[tuple[str, str], dict[str, Any]] = {}
        self.calls: Counter[str] = Counter()

    def get_object(self, *, Key: str, **_: Any) -> dict[str, Any]:  # noqa: N803
        self.calls["GetObject"] += 1
        data = self.objects[Key]
        return {"ContentLength": len(data), "Body": io.BytesIO(data)}

    def put_object(self, *, Key: str, Body: bytes, **_: Any) -> dict[str, Any]:  # noqa: N803
        self.calls["PutObject"] += 1
        if Key in self.objects:
            raise ClientError({"Error": {"Code": "PreconditionFailed"}}, "PutObject")
        self.objects[Key] = Body
        return {}

    def batch_get_item(self, *, RequestItems: dict[str, Any], **_: Any) -> dict[str, Any]:  # noqa: N803
        self.calls["BatchGetItem"] += 1
        ((table, wanted),) = RequestItems.items()
        keys = [(key["pk"]["S"], key["sk"]["S"]) for key in wanted["Keys"]]
        return {"Responses": {table: [self.rows[key] for key in keys if key in self.rows]}}

    def transact_write_items(self, *, TransactItems: list[Any], **_: Any) -> dict[str, Any]:  # noqa: N803
        """Writes without asking for the conditions: there is nobody else here."""
        self.calls["TransactWriteItems"] += 1
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

    def fill(self, name: WorkspaceName, files: dict[str, bytes]) -> None:
        """Make a workspace that holds these files."""
        writes = [FileWrite(path, data) for path, data in files.items()]
        change = change_tree(lambda _oid: {}, EMPTY_TREE, writes)
        for oid, framed in {**change.blobs, **change.trees, EMPTY_TREE: frame("tree", b"")}.items():
            self.objects[f"{name.prefix}{oid[:2]}/{oid[2:]}"] = framed
        first = Commit(change.root, None, "", "benchmark", "benchmark", 0, "first", [])
        items = [meta_item(self.stores(), name), *commit_items(self.stores(), name, first)]
        self.transact_write_items(TransactItems=items)
        self.calls.clear()
