"""A workspace as a tool sees it: snapshots to read, and one way to change it.

A change is one transaction: the head moves from the tree that was read to the new one, history gets
its row, and the call's answer is recorded. If the head has moved meanwhile, the edit is made again
on what is there now; nobody's work is overwritten and no change is half there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.errors import ConflictError, NotFoundError, UnavailableError
from functions._runtime.effect import PreconditionFailedError
from functions._runtime.workspace.edits import A, Edit, TreeChange, change_tree
from functions._runtime.workspace.heads import (
    Commit,
    Head,
    Stores,
    WorkspaceName,
    commit_items,
    confirm_revision,
    parse_revision,
    read_head,
)
from functions._runtime.workspace.names import encode, shown
from functions._runtime.workspace.protected import NEVER, Protection
from functions._runtime.workspace.snapshot import Snapshot
from functions._runtime.workspace.store import Clock, MissingObjectError, ObjectCache, ObjectStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from functions._runtime.effect import Effect

TRIES = 32
"""How often an edit is made before a busy workspace is called unavailable."""


class Workspace:
    """One tenant's workspace, for one call of one tool.

    `effect` None means that nothing may be changed: a dry run, or a tool that only reads. `by` and
    `tool` go into history. `cache` may be shared by a process's calls. `protection` says whether
    people can be asked about protected paths.
    """

    def __init__(
        self,
        stores: Stores,
        *,
        tenant: str,
        repo_root: str,
        deadline: Clock,
        now_ms: Callable[[], int],
        by: str,
        tool: str,
        effect: Effect | None = None,
        cache: ObjectCache | None = None,
        protection: Protection = NEVER,
    ) -> None:
        self._stores, self._name = stores, WorkspaceName(tenant, repo_root)
        self._deadline, self._now_ms = deadline, now_ms
        self._by, self._tool, self._effect = by, tool, effect
        self._protection = protection
        self._store = ObjectStore(
            s3=stores.s3,
            bucket=stores.bucket,
            prefix=self._name.prefix,
            clock=deadline,
            cache=cache or ObjectCache(),
        )

    def snapshot(self) -> Snapshot:
        """The newest revision, by one read of the table.

        Raises NotFoundError for an unknown workspace, UnavailableError if the table failed.
        """
        head = read_head(self._stores, self._name, self._deadline)
        return Snapshot(head, self._store, self._deadline)

    def at(self, revision: str | None) -> Snapshot:
        """The revision that an earlier answer named; the newest for None.

        Raises InvalidArgumentsError if it is not written like one, NotFoundError if this workspace
        never had it, and what `snapshot` raises.
        """
        if revision is None:
            return self.snapshot()
        head = parse_revision(revision)
        confirm_revision(self._stores, self._name, head, self._deadline)
        snapshot = Snapshot(head, self._store, self._deadline)
        try:
            snapshot.read_tree(head.tree)
        except MissingObjectError as error:
            raise NotFoundError("there is no such revision of this workspace") from error
        return snapshot

    def change(self, edit: Callable[[Snapshot], Edit[A]], *, expected: str | None = None) -> A:
        """Do what `edit` wants done to the newest revision, and give its answer.

        `edit` runs again whenever the head has moved, so it must be pure; with `expected`, the only
        revision to change, it does not. Without an effect it runs once, everything is checked and
        nothing is written. Raises what `edit` raises, what `change_tree` refuses,
        ConflictError (`details.code` REVISION_MOVED) if the newest revision is not `expected`,
        what a protected path comes to by `Protection` and `Effect.approve`, UnavailableError if the
        store failed or others kept moving the head, and what the deadline raises.
        """
        for _ in range(TRIES):
            self._deadline.check()
            snapshot = self.snapshot()
            _refuse_other_than(expected, snapshot)
            wanted = edit(snapshot)
            gated = self._protection.concerns(
                (write.path for write in wanted.writes),
                snapshot.head.protected,
                settled=wanted.settled or expected is not None,
            )
            change = change_tree(snapshot.read_tree, snapshot.tree, wanted.writes)
            if self._effect is None:
                return wanted.answer(snapshot.revision)
            if gated:
                self._effect.approve()
            try:
                return self._commit(self._effect, snapshot, wanted, change)
            except PreconditionFailedError:
                continue
        raise UnavailableError("others kept changing the workspace; repeat the call")

    def _commit(self, effect: Effect, snapshot: Snapshot, wanted: Edit[A], change: TreeChange) -> A:
        items, answer = [], wanted.answer(snapshot.revision)
        if change.root != snapshot.tree:
            self._store.write(change.blobs)
            self._store.write(change.trees)
            commit = Commit(
                tree=change.root,
                parent=snapshot.head,
                op=effect.operation,
                tool=self._tool,
                by=self._by,
                at_ms=self._now_ms(),
                message=wanted.message,
                paths=[shown(encode(write.path)) for write in wanted.writes],
            )
            items = commit_items(self._stores, self._name, commit)
            answer = wanted.answer(Head(commit.seq, commit.tree).revision)
        self._deadline.check()
        effect.commit(items, answer)
        return answer


def _refuse_other_than(expected: str | None, snapshot: Snapshot) -> None:
    if expected is not None and expected != snapshot.revision:
        raise ConflictError(
            "the workspace has moved on from expectedRevision: read what is there now",
            code="REVISION_MOVED",
            revision=snapshot.revision,
        )
