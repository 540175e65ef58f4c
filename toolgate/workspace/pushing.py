"""Bring a directory into a workspace: only what it lacks, and never over someone else's change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from functions._runtime.workspace.heads import Commit, Head, commit_items, meta_item
from functions._runtime.workspace.names import shown
from functions._runtime.workspace.objects import DIRECTORY, SUBMODULE, decode_tree, open_object
from functions._runtime.workspace.walk import Difference, differences
from toolgate.workspace.converting import stored_ids
from toolgate.workspace.disk import LocalTree, read_framed, scan
from toolgate.workspace.errors import PushRefusedError
from toolgate.workspace.fast_import import CommitText, commit
from toolgate.workspace.git import Repository, fast_import, find_repository, git
from toolgate.workspace.record import Record, RecordFile
from toolgate.workspace.remote import Remote

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from functions._runtime.workspace.heads import Stores
    from functions._runtime.workspace.objects import Tree, TreeEntry

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
        scan(directory, repository.files(), repository.object_format)
        if repository
        else scan(directory)
    )
    if head and head.tree != local.root and (record is None or record.revision != head.revision):
        raise PushRefusedError(
            "the workspace has changes that this directory has not seen; pull first"
        )
    text = CommitText(by, now_ms, message)
    result = _upload(remote, directory, local, head, text, progress=progress)
    if repository:
        base = _base_commit(repository, record_file.key, local, text)
        record_file.save(Record(result.revision, base, record.tip if record else None))
    else:
        record_file.save(Record(result.revision))
    return result


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
    return _upload(remote, directory, scan(directory), remote.head_if_any(), text)


def _refuse_unmerged(
    repository: Repository | None, record: Record | None, head: Head | None, *, discard: bool
) -> None:
    if not (repository and record and record.tip and head) or discard:
        return
    pulled_last = record.commit == record.tip
    if pulled_last and not repository.is_merged(record.tip):
        raise PushRefusedError(
            "changes that were pulled are not merged into what is checked out, so this push would "
            f"undo them; merge {record.tip[:12]} first, or discard them "
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
    text: CommitText,
    *,
    progress: Progress | None = None,
) -> PushResult:
    blobs, trees = _lacking(remote, local, head)
    distinct = len({file.entry.oid for file in local.files.values()}) + len(local.trees)
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
    changed = head is None or head.tree != local.root
    revision = head.revision if head else ""
    if changed:
        revision = _move_head(remote, local, head, text)
    return PushResult(
        revision=revision,
        created=head is None,
        changed=changed,
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


def _move_head(remote: Remote, local: LocalTree, head: Head | None, text: CommitText) -> str:
    def read(oid: str) -> Tree:
        if oid in local.trees:
            return decode_tree(open_object(oid, "tree", local.trees[oid]))
        return remote.objects.tree(oid)

    changed = differences(read, head.tree if head else None, local.root)
    made = Commit(
        tree=local.root,
        parent=head,
        op="push",
        tool="push",
        by=text.by,
        at_ms=text.at_ms,
        message=text.message,
        paths=[shown(change.path) for change in changed],
    )
    items = commit_items(remote.stores, remote.name, made)
    if head is None:
        items = [meta_item(remote.stores, remote.name), *items]
    if not remote.transact(items):
        raise PushRefusedError("the workspace was changed during the push; pull first")
    return f"{made.seq}-{made.tree}"


def _base_commit(repository: Repository, key: str, local: LocalTree, text: CommitText) -> str:
    """A commit that holds the pushed files: the one checked out, or one made on top of it.

    It is only an object in the repository, under a ref of its own: no branch, index or file moves.
    """
    head = repository.head()
    committed = repository.committed(head) if head else {}
    theirs = {path: about for path, about in committed.items() if about[0] != SUBMODULE}
    ours = {path: (file.entry.mode, file.git_id) for path, file in local.files.items()}
    differing = {p for p in theirs.keys() | ours.keys() if theirs.get(p) != ours.get(p)}
    both = {p for p in differing if p in ours and p in theirs and ours[p][0] == theirs[p][0]}
    if both:
        # Line ends that git itself converted at checkout are no change of the user's.
        differing -= repository.unmodified(both)

    def read(path: bytes, entry: TreeEntry) -> bytes:
        framed = read_framed(repository.directory, path, entry)
        return open_object(entry.oid, "blob", framed)

    # Bytes that git has as they are keep their blob; all else is stored as `git add` would.
    ids = {
        p: ours[p][1] for p in differing & ours.keys() & theirs.keys() if ours[p][1] == theirs[p][1]
    }
    unlike = sorted((differing & ours.keys()) - ids.keys())
    step = [Difference(path, None, local.files[path].entry) for path in unlike]
    ids |= stored_ids(repository, head, [step], read)[0]
    changes = [
        (path, local.files[path].entry if path in ours else None)
        for path in sorted(differing)
        if path not in ids or theirs.get(path) != (ours[path][0], ids[path])
    ]
    ref = f"refs/toolgate/{key}/pushed"
    if head and not changes:
        # The ref keeps the commit, which the next pull builds on, from being pruned.
        git(repository.directory, "update-ref", ref, head)
        return head
    stream = commit(ref, head, text, changes, read, prefix=repository.prefix, ids=ids)
    fast_import(repository.directory, stream)
    return repository.commit_at(ref)
