"""Clients that keep count, and the parts that a pipeline would bring to a workspace."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from contracts.types import Answer
from functions._runtime.deadline import Deadline
from functions._runtime.effect import PreconditionFailedError
from functions._runtime.workspace import Edit, FileWrite, Stores, Workspace
from functions._runtime.workspace.heads import Commit, WorkspaceName, commit_items, meta_item
from functions._runtime.workspace.objects import EMPTY_TREE, frame

ROOT = "/workspace/app"
FOREVER = Deadline(lambda: 3_600_000, 15)


class Done(Answer):
    """An output."""

    text: str = "done"


class Recorder:
    """A client that notes each call as (operation, arguments) and then makes it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.before: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._client, name)

        def call(**arguments: Any) -> Any:
            self.calls.append((name, arguments))
            if name in self.before:
                self.before[name](**arguments)
            return real(**arguments)

        return call

    def count(self, name: str) -> int:
        return sum(called == name for called, _ in self.calls)


class TableEffect:
    """An effect as the pipeline gives one: the items and the completion in one transaction."""

    def __init__(self, stores: Stores, operation: str = "apply_patch@1#0") -> None:
        self.operation = operation
        self.commits: list[list[dict[str, Any]]] = []
        self._stores = stores

    def commit(self, items: list[dict[str, Any]], output: Answer) -> None:
        done = {
            "TableName": "idempotency",
            "Item": {"id": {"S": self.operation}, "data": {"S": output.model_dump_json()}},
        }
        try:
            self._stores.dynamodb.transact_write_items(TransactItems=[*items, {"Put": done}])
        except ClientError as error:
            reasons = error.response.get("CancellationReasons", [])
            if any(r.get("Code") == "ConditionalCheckFailed" for r in reasons[: len(items)]):
                raise PreconditionFailedError from error
            raise
        self.commits.append(items)


def workspace(stores: Stores, **more: Any) -> Workspace:
    arguments: dict[str, Any] = {
        "tenant": "default",
        "repo_root": ROOT,
        "deadline": FOREVER,
        "now_ms": lambda: 1_700_000_000_000,
        "by": "ada",
        "tool": "apply_patch@1",
    }
    return Workspace(stores, **(arguments | more))


def found(stores: Stores, tenant: str = "default", repo_root: str = ROOT) -> WorkspaceName:
    """Make an empty workspace, as a push of an empty directory would."""
    name = WorkspaceName(tenant, repo_root)
    stores.s3.put_object(
        Bucket=stores.bucket,
        Key=f"{name.prefix}{EMPTY_TREE[:2]}/{EMPTY_TREE[2:]}",
        Body=frame("tree", b""),
    )
    first = Commit(EMPTY_TREE, None, "push", "push", "ada", 0, "Start", [])
    items = [meta_item(stores, name), *commit_items(stores, name, first)]
    stores.dynamodb.transact_write_items(TransactItems=items)
    return name


def log_row(stores: Stores, name: WorkspaceName, seq: int) -> dict[str, Any]:
    key = name.key(f"LOG#main#{seq:012d}")
    return stores.dynamodb.get_item(TableName=stores.table, Key=key).get("Item", {})


def put(path: str, data: bytes | None, text: str = "done") -> Any:
    return lambda _: Edit([FileWrite(path, data)], lambda _: Done(text=text), f"Write {path}")


def changed(stores: Stores, *edits: Any, **more: Any) -> Workspace:
    """A workspace after each of `edits`, by an operation of its own."""
    for number, edit in enumerate(edits):
        effect = TableEffect(stores, f"setup#{number}")
        workspace(stores, effect=effect, **more).change(edit)
    return workspace(stores, **more)


def all_objects(stores: Stores) -> set[str]:
    listing = stores.s3.list_objects_v2(Bucket=stores.bucket).get("Contents", [])
    return {item["Key"] for item in listing}
