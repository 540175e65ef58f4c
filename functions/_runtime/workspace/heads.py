"""The rows of a workspace in DynamoDB: who it is, where each branch stands, how it got there.

pk WS#{tenant}#{ws}   ws: the first 32 digits of SHA-256 of repoRoot
sk META               repoRoot, and `protected`: globs of its own, if any
   HEAD#{branch}      seq, tree
   LOG#{branch}#{seq} tree, parent, op, tool, by, atMs, message, paths, more
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from contracts.errors import (
    InternalError,
    InvalidArgumentsError,
    NotFoundError,
    UnavailableError,
)
from functions._runtime.failures import unavailable_on_failure
from functions._runtime.workspace.objects import is_object_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from functions._runtime.effect import TransactItem
    from functions._runtime.workspace.store import Clock

MAIN = "main"
PATHS_MAX = 100
MESSAGE_MAX = 500
_PATHS_MAX_BYTES = 64 * 1024
_READ_TRIES = 4
_TENANT = re.compile(r"[a-z0-9-]{1,32}\Z")
_REVISION = re.compile(r"([0-9]{1,16})-([0-9a-f]{64})\Z")


@dataclass(frozen=True)
class Stores:
    """Where workspaces live: low-level clients, and the names of the table and the bucket."""

    dynamodb: Any
    s3: Any
    table: str
    bucket: str


@dataclass(frozen=True)
class WorkspaceName:
    """A tenant's name for a workspace, and the keys that follow from it."""

    tenant: str
    repo_root: str

    def __post_init__(self) -> None:
        if not _TENANT.match(self.tenant):
            raise ValueError("a tenant is 1-32 of a-z, 0-9 and -")

    @property
    def ws(self) -> str:
        """The workspace in keys."""
        return sha256(self.repo_root.encode()).hexdigest()[:32]

    @property
    def pk(self) -> str:
        """Partition of its rows."""
        return f"WS#{self.tenant}#{self.ws}"

    @property
    def prefix(self) -> str:
        """What its objects' keys begin with."""
        return f"t/{self.tenant}/w/{self.ws}/o/"

    def key(self, sk: str) -> dict[str, Any]:
        """Key of one of its rows."""
        return {"pk": {"S": self.pk}, "sk": {"S": sk}}


@dataclass(frozen=True)
class Head:
    """Where a branch stands, and what its workspace protects."""

    seq: int
    tree: str
    protected: tuple[str, ...] = ()

    @property
    def revision(self) -> str:
        """`{seq}-{tree}`: a tree alone comes back after an undo."""
        return f"{self.seq}-{self.tree}"


@dataclass(frozen=True)
class Commit:
    """One row of history, to be written: a tree after its parent, and who did it why."""

    tree: str
    parent: Head | None
    op: str
    tool: str
    by: str
    at_ms: int
    message: str
    paths: Sequence[str]

    @property
    def seq(self) -> int:
        """Its number; the first of a branch is 1."""
        return self.parent.seq + 1 if self.parent else 1


def parse_revision(revision: str) -> Head:
    """What a revision names. Raises InvalidArgumentsError for other text."""
    match = _REVISION.match(revision)
    if not match:
        raise InvalidArgumentsError("that is not a revision that an answer gave")
    return Head(int(match[1]), match[2])


def log_key(seq: int, branch: str = MAIN) -> str:
    """Sort key of a row of history."""
    return f"LOG#{branch}#{seq:012d}"


def read_head(stores: Stores, name: WorkspaceName, clock: Clock, branch: str = MAIN) -> Head:
    """The head and what META says, as of one moment, in one read.

    Raises NotFoundError if there is no such workspace, UnavailableError if the table failed.
    """
    wanted: Any = {
        stores.table: {
            "Keys": [name.key("META"), name.key(f"HEAD#{branch}")],
            "ConsistentRead": True,
        }
    }
    rows: dict[str, Any] = {}
    for _ in range(_READ_TRIES):
        clock.check()
        with unavailable_on_failure():
            answer = stores.dynamodb.batch_get_item(RequestItems=wanted)
        for row in answer["Responses"].get(stores.table, []):
            rows[row["sk"]["S"]] = row
        if not answer.get("UnprocessedKeys"):
            break
        # The two rows must be of one moment: rather both again than the one that is missing.
        rows.clear()
    else:
        raise UnavailableError("the workspace store was busy; repeat the call")
    meta, head = rows.get("META"), rows.get(f"HEAD#{branch}")
    if meta is None or head is None:
        raise NotFoundError("there is no such workspace")
    if meta["repoRoot"]["S"] != name.repo_root or not is_object_id(head["tree"]["S"]):
        raise InternalError("the workspace's rows are damaged")
    return Head(int(head["seq"]["N"]), head["tree"]["S"], _texts(meta.get("protected")))


def confirm_revision(
    stores: Stores, name: WorkspaceName, head: Head, clock: Clock, branch: str = MAIN
) -> None:
    """Raise NotFoundError unless `head` was once the head of this workspace's branch."""
    clock.check()
    with unavailable_on_failure():
        answer = stores.dynamodb.get_item(
            TableName=stores.table, Key=name.key(log_key(head.seq, branch)), ConsistentRead=True
        )
    if answer.get("Item", {}).get("tree", {}).get("S") != head.tree:
        raise NotFoundError("there is no such revision of this workspace")


def commit_items(
    stores: Stores, name: WorkspaceName, commit: Commit, branch: str = MAIN
) -> list[TransactItem]:
    """The transaction items that move the head from `commit.parent` and write history.

    They fail their condition if the head is elsewhere by then, and write nothing.
    """
    move: TransactItem = {
        "TableName": stores.table,
        "Key": name.key(f"HEAD#{branch}"),
        "UpdateExpression": "SET #seq = :seq, #tree = :tree",
        "ConditionExpression": "attribute_not_exists(pk)",
        "ExpressionAttributeNames": {"#seq": "seq", "#tree": "tree"},
        "ExpressionAttributeValues": {
            ":seq": {"N": str(commit.seq)},
            ":tree": {"S": commit.tree},
        },
    }
    if commit.parent:
        move["ConditionExpression"] = "#seq = :was_seq AND #tree = :was_tree"
        move["ExpressionAttributeValues"] |= {
            ":was_seq": {"N": str(commit.parent.seq)},
            ":was_tree": {"S": commit.parent.tree},
        }
    put = {
        "TableName": stores.table,
        "Item": {**name.key(log_key(commit.seq, branch)), **_log_row(commit)},
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    return [{"Update": move}, {"Put": put}]


def meta_item(stores: Stores, name: WorkspaceName) -> TransactItem:
    """The transaction item that makes a workspace; it fails its condition if there is one."""
    return {
        "Put": {
            "TableName": stores.table,
            "Item": {**name.key("META"), "repoRoot": {"S": name.repo_root}},
            "ConditionExpression": "attribute_not_exists(pk)",
        }
    }


def _log_row(commit: Commit) -> dict[str, Any]:
    paths = _shortened(commit.paths)
    row = {
        "tree": {"S": commit.tree},
        "op": {"S": commit.op},
        "tool": {"S": commit.tool},
        "by": {"S": commit.by},
        "atMs": {"N": str(commit.at_ms)},
        "message": {"S": commit.message[:MESSAGE_MAX]},
        "paths": {"L": [{"S": path} for path in paths]},
        "more": {"N": str(len(commit.paths) - len(paths))},
    }
    return row | {"parent": {"S": commit.parent.tree}} if commit.parent else row


def _shortened(paths: Sequence[str]) -> list[str]:
    """At most PATHS_MAX, and few enough that the row stays small."""
    kept: list[str] = []
    size = 0
    for path in paths[:PATHS_MAX]:
        size += len(path.encode())
        if size > _PATHS_MAX_BYTES:
            break
        kept.append(path)
    return kept


def _texts(attribute: Any) -> tuple[str, ...]:
    """A list or set of strings, as either may have been written by hand."""
    if not attribute:
        return ()
    return tuple(
        item if isinstance(item, str) else item["S"]
        for item in attribute.get("SS", attribute.get("L", []))
    )
