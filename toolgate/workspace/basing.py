"""The commit that a push leaves in the repository, for the next pull to build on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions._runtime.workspace.objects import SUBMODULE, open_object
from functions._runtime.workspace.walk import Difference
from toolgate.workspace.converting import stored_ids
from toolgate.workspace.disk import read_framed
from toolgate.workspace.fast_import import commit
from toolgate.workspace.git import fast_import, git

if TYPE_CHECKING:
    from functions._runtime.workspace.objects import TreeEntry
    from toolgate.workspace.disk import LocalTree
    from toolgate.workspace.fast_import import CommitText
    from toolgate.workspace.git import Repository


def make_base(repository: Repository, key: str, local: LocalTree, text: CommitText) -> str:
    """A commit that holds the pushed files: the one checked out, or one made on top of it.

    It is only an object in the repository, under a ref of its own: no branch, index or file moves.
    What an earlier push made is kept until `keep_base`. Raises DirectoryError if a file changed
    since it was scanned, GitError.
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
    ref = _made(key)
    if head and not changes:
        git(repository.directory, "update-ref", ref, head)
        return head
    stream = commit(ref, head, text, changes, read, prefix=repository.prefix, ids=ids)
    fast_import(repository.directory, stream)
    return repository.commit_at(ref)


def keep_base(repository: Repository, key: str) -> None:
    """Keep the commit of a push that is done from being pruned: the next pull builds on it."""
    commit_id = repository.commit_at(_made(key))
    git(repository.directory, "update-ref", f"refs/toolgate/{key}/pushed", commit_id)
    git(repository.directory, "update-ref", "-d", _made(key))


def _made(key: str) -> str:
    return f"refs/toolgate/{key}/pushing"
