"""Bring a directory into a workspace: only what it lacks, and never over someone else's change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from functions._runtime.workspace.heads import Commit, Head, commit_items, meta_item
from functions._runtime.workspace.names import shown
from functions._runtime.workspace.objects import DIRECTORY, decode_tree, open_object
from functions._runtime.workspace.walk import differences
from toolgate.workspace.basing import keep_base, make_base
from toolgate.workspace.disk import LocalTree, read_framed, scan
from toolgate.workspace.errors import PushRefusedError
from toolgate.workspace.fast_import import CommitText
from toolgate.workspace.git import Repository, find_repository
from toolgate.workspace.record import Record, RecordFile
from toolgate.workspace.remote import Remote

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from functions._runtime.workspace.heads import Stores
    from functions._runtime.workspace.objects import Tree

    Progress = Callable[[int, int], None]

_BATCH_OBJECTS = 256
_BATCH_BYTES = 32 * 1024 * 1024
# Above this it is cheaper to ask whether the store has an object than to send it in vain.
_ASK_FIRST_BYTES = 256 * 1024
_LIST_FROM = 1_000
"""With more objects to send it is cheaper to list all that are there: a thousand a call."""


@dataclass(frozen=True)
class PushResult:
    """What a push did. `created`: the workspace is new. `changed`: there is a new revision.

    `left_out` are paths that no tree can hold here: submodules, other repositories, sockets.
    """

    revision: str
    created: bool
    changed: bool
    files: int
    uploaded: int
    skipped: int
    left_out: tuple[str, ...]


def push(
    stores: Stores,
    directory: Path,
    repo_root: str,
    *,
    tenant: str = "default",
    by: str,
    now_ms: int,
    message: str = "Push",
    state_directory: Path | None = None,
    discard_pulled: bool = False,
    progress: Progress | None = None,
) -> PushResult:
    """Make the workspace hold what the directory holds, and create it if there is none.

    In a repository: tracked and new files, without ignored ones; elsewhere: everything but `.git`.
    `progress` hears (objects done, objects in all). Raises PushRefusedError if the workspace moved
    since this directory last pushed or pulled, or if pulled work is not merged into what is checked
    out (`discard_pulled` allows that), or if a sparse checkout leaves files out; DirectoryError;
    GitError; UnavailableError.
    """
    remote = Remote(stores, tenant, repo_root)
    repository = find_repository(directory)
    record_file = RecordFile(directory, repository, state_directory, remote)
    record, head = record_file.load(), remote.head_if_any()
    _refuse_unmerged(repository, record, head, discard=discard_pulled)
    if repository:
        _refuse_sparse(repository)
    local = (
        scan(
            directory,
            repository.files(),
            repository.object_format,
            repository.staged_submodules(),
        )
        if repository
        else scan(directory)
    )
    if head and head.tree != local.root and (record is None or record.revision != head.revision):
        raise PushRefusedError(
            "the workspace has changes that this directory has not seen; pull first"
        )
    text = CommitText(by, now_ms, message)
    uploaded = _upload(remote, directory, local, head, progress=progress)
    made = _next_commit(remote, local, head, text)
    revision = f"{made.seq}-{made.tree}" if made else head.revision if head else ""
    new = Record(revision)
    if repository:
        base = make_base(repository, record_file.key, local, text)
        new = Record(revision, base, record.tip if record else None, repository.work_tree)
    # All that the directory may still refuse has been asked: now the head may move.
    if made:
        record_file.save(record, intended=new)
        _move_head(remote, made)
    if repository:
        keep_base(repository, record_file.key)
    record_file.save(new)
    return _result(local, head, revision, uploaded)


def import_tree(
    stores: Stores,
    directory: Path,
    repo_root: str,
    *,
    tenant: str = "default",
    by: str,
    now_ms: int,
    message: str = "Import",
) -> PushResult:
    """Make the workspace hold exactly what the directory holds, `.git` aside, whatever it held.

    No ignore rules, no record of it. Raises as `push`.
    """
    remote = Remote(stores, tenant, repo_root)
    text = CommitText(by, now_ms, message)
    local, head = scan(directory), remote.head_if_any()
    uploaded = _upload(remote, directory, local, head)
    made = _next_commit(remote, local, head, text)
    if made:
        _move_head(remote, made)
    revision = f"{made.seq}-{made.tree}" if made else head.revision if head else ""
    return _result(local, head, revision, uploaded)


def _refuse_unmerged(
    repository: Repository | None, record: Record | None, head: Head | None, *, discard: bool
) -> None:
    if not (repository and record and record.commit and head) or discard:
        return
    pulled_last = record.commit == record.tip
    elsewhere = record.work_tree not in {None, repository.work_tree}
    if (pulled_last or elsewhere) and not repository.is_merged(record.commit):
        what = "were pulled" if pulled_last else "another work tree pushed"
        raise PushRefusedError(
            f"changes that {what} are not merged into what is checked out, so this push would "
            f"undo them; merge {record.commit[:12]} first, or discard them "
            "(--discard-pulled)"
        )


def _refuse_sparse(repository: Repository) -> None:
    if absent := repository.absent():
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise PushRefusedError(
            f"the sparse checkout leaves out {shown(absent[0])}{more}, so this push would delete "
            "files; run git sparse-checkout disable first"
        )


def _upload(
    remote: Remote,
    directory: Path,
    local: LocalTree,
    head: Head | None,
    *,
    progress: Progress | None = None,
) -> int:
    """Send the objects that the workspace lacks; gives how many were sent."""
    blobs, trees = _lacking(remote, local, head)
    total = len(blobs) + len(trees)
    # What an earlier push that was stopped has sent is not sent again.
    there = remote.object_ids() if total >= _LIST_FROM else set()
    blobs = [path for path in blobs if local.files[path].entry.oid not in there]
    done = total - len(blobs) - len(trees)
    uploaded = 0
    for batch in _batches(local, blobs):
        framed = {
            local.files[path].entry.oid: read_framed(directory, path, local.files[path].entry)
            for path in batch
            if not _is_there(remote, local, path)
        }
        uploaded += remote.objects.write(framed)
        done += len(batch)
        if progress:
            progress(done, total)
    uploaded += remote.objects.write({oid: local.trees[oid] for oid in trees if oid not in there})
    if progress:
        progress(total, total)
    return uploaded


def _result(local: LocalTree, head: Head | None, revision: str, uploaded: int) -> PushResult:
    distinct = len({file.entry.oid for file in local.files.values()}) + len(local.trees)
    return PushResult(
        revision=revision,
        created=head is None,
        changed=head is None or head.revision != revision,
        files=len(local.files),
        uploaded=uploaded,
        skipped=distinct - uploaded,
        left_out=tuple(shown(path) for path in local.left_out),
    )


def _lacking(
    remote: Remote, local: LocalTree, head: Head | None
) -> tuple[list[bytes], dict[str, None]]:
    """Paths of blobs and ids of trees that the head's tree does not hold at the same place."""
    read_remote = remote.objects.tree
    blobs: dict[str, bytes] = {}
    trees: dict[str, None] = {}
    todo = [(b"", local.root, head.tree if head else None)]
    while todo:
        prefix, ours, theirs = todo.pop()
        if ours == theirs:
            continue
        trees[ours] = None
        beside = read_remote(theirs) if theirs else {}
        there = {entry.oid for entry in beside.values()}
        for name, entry in decode_tree(open_object(ours, "tree", local.trees[ours])).items():
            if entry.oid in there:
                continue
            if entry.mode != DIRECTORY:
                blobs.setdefault(entry.oid, prefix + name)
                continue
            other = beside.get(name)
            below = other.oid if other and other.mode == DIRECTORY else None
            todo.append((prefix + name + b"/", entry.oid, below))
    return list(blobs.values()), trees


def _batches(local: LocalTree, paths: list[bytes]) -> list[list[bytes]]:
    """Paths in batches whose objects fit into memory together."""
    batches: list[list[bytes]] = []
    room = 0
    for path in paths:
        size = local.files[path].size
        if room < size or not batches or len(batches[-1]) == _BATCH_OBJECTS:
            batches.append([])
            room = _BATCH_BYTES
        batches[-1].append(path)
        room -= size
    return batches


def _is_there(remote: Remote, local: LocalTree, path: bytes) -> bool:
    file = local.files[path]
    return file.size >= _ASK_FIRST_BYTES and remote.objects.has(file.entry.oid)


def _next_commit(
    remote: Remote, local: LocalTree, head: Head | None, text: CommitText
) -> Commit | None:
    """The row of history that the push adds; None if the head has the files already."""
    if head and head.tree == local.root:
        return None

    def read(oid: str) -> Tree:
        if oid in local.trees:
            return decode_tree(open_object(oid, "tree", local.trees[oid]))
        return remote.objects.tree(oid)

    changed = differences(read, head.tree if head else None, local.root)
    return Commit(
        tree=local.root,
        parent=head,
        op="push",
        tool="push",
        by=text.by,
        at_ms=text.at_ms,
        message=text.message,
        paths=[shown(change.path) for change in changed],
    )


def _move_head(remote: Remote, made: Commit) -> None:
    items = commit_items(remote.stores, remote.name, made)
    if made.parent is None:
        items = [meta_item(remote.stores, remote.name), *items]
    if not remote.transact(items):
        raise PushRefusedError("the workspace was changed during the push; pull first")
