"""What happened to a workspace: its log, and what differs between two revisions."""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from functions._runtime.workspace.heads import confirm_revision, parse_revision
from functions._runtime.workspace.objects import EXECUTABLE, SUBMODULE, SYMLINK
from functions._runtime.workspace.walk import differences
from toolgate.workspace.disk import FILE_MAX_BYTES
from toolgate.workspace.fast_import import refuse_git_directory
from toolgate.workspace.git import environment, git
from toolgate.workspace.remote import LogEntry, Remote
from toolgate.workspace.writing import DirectoryWriter

if TYPE_CHECKING:
    from functions._runtime.workspace.heads import Stores
    from functions._runtime.workspace.objects import TreeEntry

_DIFF = (
    *("diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix"),
    *("--no-renames", "--src-prefix=", "--dst-prefix=", "--", "a", "b"),
)


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
        top = Path(place)
        for side in ("a", "b"):
            (top / side).mkdir()
        with DirectoryWriter(top / "a") as left, DirectoryWriter(top / "b") as right:
            for change in changes:
                refuse_git_directory(change.path)
                _write(remote, left, change.path, change.old)
                _write(remote, right, change.path, change.new)
        # A diff must not depend on the person's configuration, nor on a repository around it.
        bare = environment(
            GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", GIT_CEILING_DIRECTORIES=place
        )
        return git(top, *_DIFF, env=bare, ok=(1,))


def _write(remote: Remote, writer: DirectoryWriter, path: bytes, entry: TreeEntry | None) -> None:
    if entry is None or entry.mode == SUBMODULE:
        return
    data = remote.objects.blob(entry.oid, FILE_MAX_BYTES)
    if entry.mode == SYMLINK:
        writer.put_link(path, data)
    else:
        writer.put_file(path, data, executable=entry.mode == EXECUTABLE)
