"""Workspaces for tests: made and read by the runtime's own parts, on whatever clients are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from functions._runtime.workspace import FileWrite, ObjectCache, Snapshot, Stores
from functions._runtime.workspace.edits import change_tree
from functions._runtime.workspace.heads import (
    Commit,
    WorkspaceName,
    commit_items,
    meta_item,
    read_head,
)
from functions._runtime.workspace.objects import EMPTY_TREE, frame
from functions._runtime.workspace.store import ObjectStore


class NoHurry:
    """A deadline that never comes."""

    def check(self) -> None:
        return


@dataclass(frozen=True)
class StoredWorkspaces:
    """Workspaces of the tenant `default` in some table and bucket, and orders beside them."""

    stores: Stores
    orders_table: str = "orders"

    def create(self, root: str, files: dict[str, bytes]) -> None:
        """Make a workspace that holds these files."""
        name = WorkspaceName("default", root)
        writes = [FileWrite(path, data) for path, data in files.items()]
        change = change_tree(lambda _oid: {}, EMPTY_TREE, writes)
        store = self._store(name)
        store.write(change.blobs)
        store.write(change.trees or {EMPTY_TREE: frame("tree", b"")})
        first = Commit(change.root, None, "", "tests", "tests", 0, "first", [])
        items = [meta_item(self.stores, name), *commit_items(self.stores, name, first)]
        self.stores.dynamodb.transact_write_items(TransactItems=items)

    def files(self, root: str) -> dict[str, bytes]:
        """Every file of a workspace at its head."""
        snapshot = self.snapshot(root)
        return {path.decode(): snapshot.read(path.decode()).data for path, _ in snapshot.walk()}

    def put_order(self, order: dict[str, Any], tenant: str = "default") -> None:
        """Write an order's row, attribute by attribute as it is pinned."""
        row = {
            "pk": {"S": f"ORDER#{tenant}#{order['order_id']}"},
            "status": {"S": order["status"]},
            "items_count": {"N": str(order["items_count"])},
            "total_amount": {"N": str(order["total_amount"])},
        }
        self.stores.dynamodb.put_item(TableName=self.orders_table, Item=row)

    def snapshot(self, root: str) -> Snapshot:
        """A workspace at its head."""
        name = WorkspaceName("default", root)
        return Snapshot(read_head(self.stores, name, NoHurry()), self._store(name), NoHurry())

    def commits(self, root: str) -> int:
        """How many revisions a workspace has had."""
        return self.snapshot(root).head.seq

    def log(self, root: str) -> list[dict[str, Any]]:
        """Its rows of history, oldest first."""
        return self.stores.dynamodb.query(
            TableName=self.stores.table,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :log)",
            ExpressionAttributeValues={
                ":pk": {"S": WorkspaceName("default", root).pk},
                ":log": {"S": "LOG#"},
            },
            ConsistentRead=True,
        )["Items"]

    def objects(self, root: str) -> ObjectStore:
        """A workspace's objects."""
        return self._store(WorkspaceName("default", root))

    def _store(self, name: WorkspaceName) -> ObjectStore:
        return ObjectStore(
            s3=self.stores.s3,
            bucket=self.stores.bucket,
            prefix=name.prefix,
            clock=NoHurry(),
            cache=ObjectCache(),
        )
