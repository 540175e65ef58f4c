"""Write a revision into a plain directory: exactly, or what is new and never over local work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions._runtime.workspace.names import shown
from functions._runtime.workspace.objects import (
    EXECUTABLE,
    SYMLINK,
    decode_tree,
    open_object,
)
from functions._runtime.workspace.walk import differences
from toolgate.workspace.disk import FILE_MAX_BYTES, scan
from toolgate.workspace.errors import PullRefusedError
from toolgate.workspace.fast_import import refuse_git_directory
from toolgate.workspace.obstacles import obstacles
from toolgate.workspace.writing import DirectoryWriter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from functions._runtime.workspace.objects import Tree
    from functions._runtime.workspace.snapshot import Snapshot
    from functions._runtime.workspace.walk import Difference, ReadTree
    from toolgate.workspace.disk import LocalTree

_NAMED_MAX = 5


def export_tree(snapshot: Snapshot, directory: Path) -> int:
    """Make a directory hold exactly a revision, `.git` aside; gives how many paths changed.

    Files that are right are not touched; links are written as they are, wherever they point, and
    never followed. Raises PullRefusedError, DirectoryError.
    """
    local = scan(directory)
    changes = differences(_reader(local, snapshot), local.root, snapshot.tree)
    _write(snapshot, directory, changes)
    return len(changes)


def update_directory(snapshot: Snapshot, directory: Path, base_tree: str | None) -> int:
    """Bring what changed between `base_tree` (None: nothing yet) and a revision.

    Gives how many paths changed. Raises PullRefusedError, before anything is written, if a local
    change would be lost or a link would lead out of the directory.
    """
    local = scan(directory)
    changes = differences(_reader(local, snapshot), base_tree, snapshot.tree)
    todo = [change for change in changes if _differs(local, change)]
    _refuse_losses(directory, local, todo)
    for change in todo:
        if change.new is not None and change.new.mode == SYMLINK:
            _refuse_leading_out(change.path, snapshot.read_blob(change.new.oid))
    _write(snapshot, directory, todo)
    return len(todo)


def _reader(local: LocalTree, snapshot: Snapshot) -> ReadTree:
    def read(oid: str) -> Tree:
        if oid in local.trees:
            return decode_tree(open_object(oid, "tree", local.trees[oid]))
        return snapshot.read_tree(oid)

    return read


def _differs(local: LocalTree, change: Difference) -> bool:
    file = local.files.get(change.path)
    return (file.entry if file else None) != change.new


def _refuse_losses(directory: Path, local: LocalTree, todo: Sequence[Difference]) -> None:
    lost = []
    after = set(local.files)
    for change in todo:
        file = local.files.get(change.path)
        # A file that was deleted here and changed there is as much a loss as one changed on both.
        here = file.entry if file else None
        if here != change.old:
            lost.append(change.path)
        after.discard(change.path)
        if change.new is not None:
            after.add(change.path)
    lost += obstacles(
        directory, [c.path for c in todo if c.new is None], [c.path for c in todo if c.new]
    )
    for path in after:
        above = path.rpartition(b"/")[0]
        while above:
            if above in after:
                lost.append(above)
            above = above.rpartition(b"/")[0]
    if lost:
        names = [shown(path) for path in sorted(set(lost))]
        more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
        raise PullRefusedError(
            f"local changes would be lost: {', '.join(names[:_NAMED_MAX])}{more}; "
            "move them away and pull again"
        )


def _refuse_leading_out(path: bytes, target: bytes) -> None:
    """Allow a link that is relative and stays inside: `..` only at its start, and not too many."""
    parts = target.split(b"/")
    ups = 0
    while ups < len(parts) and parts[ups] == b"..":
        ups += 1
    if target.startswith(b"/") or ups > path.count(b"/") or b".." in parts[ups:]:
        raise PullRefusedError(f"{shown(path)} is a link that leads out of the directory")


def _write(snapshot: Snapshot, directory: Path, changes: Sequence[Difference]) -> None:
    for change in changes:
        refuse_git_directory(change.path)
    with DirectoryWriter(directory) as writer:
        for change in changes:
            if change.new is None:
                writer.remove(change.path)
        for change in changes:
            if change.new is None:
                continue
            data = snapshot.read_blob(change.new.oid, max_bytes=FILE_MAX_BYTES)
            if change.new.mode == SYMLINK:
                writer.put_link(change.path, data)
            else:
                writer.put_file(change.path, data, executable=change.new.mode == EXECUTABLE)
