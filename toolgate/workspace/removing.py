"""Delete a workspace: first so that nobody finds it any more, then all that it held.

Stopped at any point, it is finished by doing it again. In a stage that keeps data the bucket is
versioned: what is deleted there can be brought back until old versions expire.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts.errors import NotFoundError, UnavailableError
from functions._runtime.failures import unavailable_on_failure
from toolgate.workspace.remote import Remote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from functions._runtime.workspace.heads import Stores

_ROWS_A_CALL = 25
_OBJECTS_A_CALL = 1_000


@dataclass(frozen=True)
class RemoveResult:
    """How many rows and objects were deleted now."""

    rows: int
    objects: int


def remove(stores: Stores, repo_root: str, *, tenant: str = "default") -> RemoveResult:
    """Delete the workspace's rows and objects, and what an earlier attempt left of them.

    A change that is being made meanwhile fails, for its head is gone; a push that makes the
    workspace anew meanwhile is deleted with it. Raises NotFoundError if there is nothing of that
    name, UnavailableError.
    """
    remote = Remote(stores, tenant, repo_root)
    rows = objects = 0
    # A head that came while objects were deleted would lead to some that are gone.
    while keys := list(_row_keys(remote)):
        # META and HEAD go before anything that they lead to.
        keys.sort(key=lambda key: key["sk"]["S"].startswith("LOG#"))
        for some in _pieces(keys, _ROWS_A_CALL):
            _delete_rows(remote, some)
        rows += len(keys)
        objects += _delete_all_objects(remote)
    if not rows:
        objects = _delete_all_objects(remote)
    if not rows and not objects:
        raise NotFoundError("there is no such workspace")
    return RemoveResult(rows, objects)


def _row_keys(remote: Remote) -> Iterator[dict[str, Any]]:
    query: dict[str, Any] = {
        "TableName": remote.stores.table,
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": remote.name.pk}},
        "ProjectionExpression": "pk, sk",
        "ConsistentRead": True,
    }
    while True:
        with unavailable_on_failure():
            page = remote.stores.dynamodb.query(**query)
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        query["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _delete_rows(remote: Remote, keys: list[dict[str, Any]]) -> None:
    left = {remote.stores.table: [{"DeleteRequest": {"Key": key}} for key in keys]}
    while left:
        with unavailable_on_failure():
            left = remote.stores.dynamodb.batch_write_item(RequestItems=left)["UnprocessedItems"]


def _pages_of_objects(remote: Remote) -> Iterator[list[str]]:
    """Keys of the workspace's objects. Each page is asked for when those before are deleted."""
    while True:
        with unavailable_on_failure():
            page = remote.stores.s3.list_objects_v2(
                Bucket=remote.stores.bucket, Prefix=remote.name.prefix, MaxKeys=_OBJECTS_A_CALL
            )
        if not (keys := [found["Key"] for found in page.get("Contents", [])]):
            return
        yield keys


def _delete_all_objects(remote: Remote) -> int:
    deleted = 0
    for some in _pages_of_objects(remote):
        _delete_objects(remote, some)
        deleted += len(some)
    return deleted


def _delete_objects(remote: Remote, keys: list[str]) -> None:
    wanted = {"Objects": [{"Key": key} for key in keys], "Quiet": True}
    with unavailable_on_failure():
        answer = remote.stores.s3.delete_objects(Bucket=remote.stores.bucket, Delete=wanted)
    if answer.get("Errors"):
        raise UnavailableError("some objects could not be deleted; run it again")


def _pieces(items: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
