"""What happened to a workspace: its log, and what differs between two revisions."""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from functions._runtime.workspace.heads import confirm_revision, parse_revision
from functions._runtime.workspace.walk import differences
from toolgate.workspace.disk import FILE_MAX_BYTES
from toolgate.workspace.fast_import import CommitText, commit
from toolgate.workspace.git import environment, fast_import, git
from toolgate.workspace.remote import LogEntry, Remote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from functions._runtime.workspace.heads import Stores
    from functions._runtime.workspace.objects import TreeEntry
    from functions._runtime.workspace.walk import Difference

_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")
_OLD, _NEW = "refs/heads/old", "refs/heads/new"


def log(
    stores: Stores, repo_root: str, *, tenant: str = "default", limit: int = 50
) -> list[LogEntry]:
    """The newest rows of history, newest first. Raises NotFoundError, UnavailableError."""
    remote = Remote(stores, tenant, repo_root)
    head = remote.head()
    return list(islice(remote.rows(1, head.seq, newest_first=True), limit))


def diff(stores: Stores, repo_root: str, old: str, new: str, *, tenant: str = "default") -> bytes:
    """What changed from one revision to another, as `git apply` reads it; empty if nothing.

    Bytes, because files may be in any encoding; binary files are only named. Raises
    InvalidArgumentsError for what is no revision, NotFoundError for one that never was.
    """
    remote = Remote(stores, tenant, repo_root)
    before, after = parse_revision(old), parse_revision(new)
    for revision in (before, after):
        confirm_revision(stores, remote.name, revision, remote.clock)
    changes = differences(remote.objects.tree, before.tree, after.tree)
    if not changes:
        return b""
    with tempfile.TemporaryDirectory(prefix="toolgate-diff-") as place:
        # A diff must not depend on the person's configuration, nor on a repository around it; nor
        # on attributes in the workspace, so git compares commits, with no files beside them.
        bare = environment(
            GIT_CONFIG_GLOBAL="/dev/null",
            GIT_CONFIG_NOSYSTEM="1",
            GIT_ATTR_NOSYSTEM="1",
            GIT_CONFIG_COUNT="1",
            GIT_CONFIG_KEY_0="core.attributesFile",
            GIT_CONFIG_VALUE_0="/dev/null",
            GIT_CEILING_DIRECTORIES=place,
        )
        top = Path(place)
        git(top, "init", "--quiet", "--template=", env=bare)
        fast_import(top, _both(remote, changes), env=bare)
        return git(top, *_DIFF, _OLD, _NEW, "--", env=bare)


def _both(remote: Remote, changes: list[Difference]) -> Iterator[bytes]:
    """Two commits that hold what differs, before and after."""

    def read(_: bytes, entry: TreeEntry) -> bytes:
        return remote.objects.blob(entry.oid, FILE_MAX_BYTES)

    text = CommitText("toolgate", 0, "")
    for ref, side in (
        (_OLD, [(c.path, c.old) for c in changes]),
        (_NEW, [(c.path, c.new) for c in changes]),
    ):
        there = [(path, entry) for path, entry in side if entry is not None]
        yield from commit(ref, None, text, there, read)
