"""One story: attempts side by side over moto, checked against the model at every AWS call."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any

from functions._runtime import aws
from functions._runtime.workspace import FileWrite, Stores
from functions._runtime.workspace.edits import change_tree
from functions._runtime.workspace.heads import Commit, commit_items, meta_item
from functions.apply_patch.v1 import handler
from tests import conftest
from tests.exactly_once.attempts import Attempt, Clock, played
from tests.exactly_once.judge import judge
from tests.exactly_once.model import (
    BEFORE,
    LEASE_MS,
    RIVALS,
    ROOT,
    TENANTS,
    Call,
    Model,
)
from tests.faults.injector import Fault
from tests.workspaces import EMPTY_TREE
from toolgate.workspace.remote import Remote

if TYPE_CHECKING:
    from functions._runtime.workspace.heads import Head
    from tests.exactly_once.model import Files

DAY_MS = 86_400_000


class Play:
    """Fresh workspaces, fresh keys, and the attempts that run. Close it in the end."""

    def __init__(self) -> None:
        self.model, self.clock = Model(), Clock()
        self.running: list[tuple[Call, Attempt]] = []
        conftest.delete_tables()
        conftest.create_tables()
        self.remotes = {tenant: _remote(tenant) for tenant in TENANTS}
        puts = [{"PutRequest": {"Item": row}} for t in TENANTS for row in _first_rows(t)]
        aws.dynamodb().batch_write_item(RequestItems={conftest.WORKSPACE_TABLE: puts})
        self._stack = ExitStack()
        self._stack.enter_context(played(self.clock))

    def begin(self, call: Call, calls: int = 0, *, frozen: bool = False) -> Attempt:
        """Start an attempt and let it make so many AWS calls."""
        attempt = Attempt(handler, call.arguments(), call.tenant, self.clock, frozen=frozen)
        self.running.append((call, attempt))
        self.model.began(call, attempt)
        self.go_on(call, attempt, calls)
        return attempt

    def go_on(self, call: Call, attempt: Attempt, calls: int) -> None:
        """Let an attempt make so many AWS calls more."""
        while calls and not attempt.over:
            self.step(call, attempt)
            calls -= 1

    def go_on_to(self, call: Call, attempt: Attempt, operation: str | None) -> None:
        """Let an attempt go on until it stands before this AWS call; None: to its end."""
        while not attempt.over and attempt.waits_for != operation:
            self.step(call, attempt)

    def step(self, call: Call, attempt: Attempt, fault: Fault | None = None) -> None:
        """Let an attempt make one AWS call, with this fault, and check what came of it."""
        operation = attempt.step(fault)
        if attempt.claimed:
            self.model.claimed(call)
        if operation == "TransactWriteItems":
            head = self.remotes[call.tenant].head()
            if head.seq != len(self.model.log[call.tenant]):
                self.model.took_effect(call, attempt)
                self._compare(call.tenant, head)
        if attempt.over:
            self.running.remove((call, attempt))
            judge(self.model, call, attempt, self.clock())

    def wait_a_day(self) -> None:
        """Until every key is new again; nobody may be running."""
        self.clock.ms += DAY_MS + 2_000
        self.model.a_day_passed()

    def rival(self, tenant: str, kind: str) -> None:
        """Somebody else changes the workspace, if it is such that they can."""
        before = self.model.files[tenant]
        after = RIVALS[kind].outcome(before)
        if after is not None and after != before:
            _commit(self.remotes[tenant], after)
            self.model.committed(tenant, RIVALS[kind], "somebody else")

    def finish(self) -> None:
        """Let all attempts end, then repeat every call: each is answered for good at once."""
        while self.running:
            self.go_on(*self.running[0], 99)
        self.clock.ms += LEASE_MS + 1
        for call in dict.fromkeys(call for call, _ in self.model.attempts):
            answer = self.begin(call, 99).answer
            assert answer["ok"] or not answer["error"]["retryable"], answer
        for tenant, remote in self.remotes.items():
            self._compare(tenant, remote.head())
            assert [row.operation for row in remote.rows()] == self.model.log[tenant]

    def close(self) -> None:
        """End what still runs."""
        try:
            for _, attempt in self.running:
                attempt.step(Fault.CRASH_BEFORE)
        finally:
            self._stack.close()

    def _compare(self, tenant: str, head: Head) -> None:
        snapshot = self.remotes[tenant].snapshot(head)
        paths = [path.decode() for path, _ in snapshot.walk()]
        files = {path: snapshot.read(path).data.decode() for path in paths}
        assert files == self.model.files[tenant]
        assert head.seq == len(self.model.log[tenant])


@cache
def _remote(tenant: str) -> Remote:
    """The tenant's workspace, with its objects in memory once they have been read."""
    stores = Stores(aws.dynamodb(), aws.s3(), conftest.WORKSPACE_TABLE, conftest.WORKSPACE_BUCKET)
    return Remote(stores, tenant, ROOT)


@cache
def _first_rows(tenant: str) -> list[dict[str, Any]]:
    """The rows of a workspace that holds BEFORE; its objects are in the bucket."""
    remote = _remote(tenant)
    change = change_tree(lambda _oid: {}, EMPTY_TREE, _writes(BEFORE))
    remote.objects.write(change.blobs | change.trees)
    items = commit_items(remote.stores, remote.name, _row(change.root, None, ""))
    assert remote.transact([meta_item(remote.stores, remote.name), *items])
    return aws.dynamodb().query(
        TableName=conftest.WORKSPACE_TABLE,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": remote.name.pk}},
    )["Items"]


def _commit(remote: Remote, files: Files) -> None:
    """The workspace holds these files now."""
    head = remote.head()
    change = change_tree(remote.objects.tree, head.tree, _writes(files))
    remote.objects.write(change.blobs | change.trees)
    row = _row(change.root, head, "somebody else")
    assert remote.transact(commit_items(remote.stores, remote.name, row))


def _writes(files: Files) -> list[FileWrite]:
    return [FileWrite(path, text.encode()) for path, text in files.items()]


def _row(tree: str, parent: Head | None, operation: str) -> Commit:
    return Commit(tree, parent, operation, "rival", "rival", 0, "rival", [])
