"""Undo one revision: a new commit that takes back what it changed and nothing that came later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from contracts.errors import NotFoundError
from functions._runtime.workspace.heads import Commit, commit_items, parse_revision
from functions._runtime.workspace.names import decode, fold, shown
from functions._runtime.workspace.objects import (
    DIRECTORY,
    Tree,
    TreeEntry,
    encode_tree,
    frame,
    object_id,
)
from functions._runtime.workspace.walk import differences, lookup
from toolgate.workspace.errors import UndoRefusedError
from toolgate.workspace.remote import LogEntry, Remote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from functions._runtime.workspace.heads import Stores
    from functions._runtime.workspace.walk import Difference, ReadTree

SHOWN_MAX = 5
"""Paths that a refusal names."""


@dataclass(frozen=True)
class UndoResult:
    """The revision that the undo made, and the paths that it put back."""

    revision: str
    paths: tuple[str, ...]


def undo(
    stores: Stores,
    repo_root: str,
    revision: str,
    *,
    tenant: str = "default",
    by: str,
    now_ms: int,
) -> UndoResult:
    """Take back what `revision` changed, whatever later revisions did to other files.

    Raises UndoRefusedError if one of its files was changed since, or something stands where one
    must come back (also under a name that differs in case only), or everything is as it was before,
    or the workspace moved meanwhile; InvalidArgumentsError and NotFoundError for what is no
    revision of this workspace; UnavailableError.
    """
    remote = Remote(stores, tenant, repo_root)
    asked, head = parse_revision(revision), remote.head()
    row = remote.row(asked.seq)
    if row is None or row.tree != asked.tree:
        raise NotFoundError("there is no such revision of this workspace")
    if row.parent is None:
        raise UndoRefusedError("the first revision has nothing before it; toolgate workspace rm")
    changes = differences(remote.objects.tree, row.parent, row.tree)
    _refuse_overtaken(remote.objects.tree, row, head.tree, changes)
    _refuse_twins(remote.objects.tree, head.tree, changes)
    root, objects = replaced(remote.objects.tree, head.tree, {c.path: c.old for c in changes})
    if root == head.tree:
        raise UndoRefusedError(f"{revision} changed nothing, so there is nothing to take back")
    remote.objects.write(objects)
    made = Commit(
        tree=root,
        parent=head,
        op="undo",
        tool="undo",
        by=by,
        at_ms=now_ms,
        message=f"Undo {asked.seq}: {row.message}",
        paths=[shown(change.path) for change in changes],
    )
    if not remote.transact(commit_items(stores, remote.name, made)):
        raise UndoRefusedError("the workspace was changed meanwhile; look again, then repeat")
    return UndoResult(f"{made.seq}-{made.tree}", tuple(made.paths))


def replaced(
    read_tree: ReadTree, root: str, entries: Mapping[bytes, TreeEntry | None]
) -> tuple[str, dict[str, bytes]]:
    """The tree `root` with other entries at some paths (None: none), and the new tree objects."""
    directories: dict[bytes, Tree] = {b"": dict(read_tree(root))}
    # What goes makes room for what comes: a directory may give way to a file, and back.
    for path, entry in sorted(entries.items(), key=lambda item: item[1] is not None):
        parent, _, name = path.rpartition(b"/")
        tree = _opened(read_tree, directories, parent)
        if entry is None:
            tree.pop(name, None)
        else:
            tree[name] = entry
    objects: dict[str, bytes] = {}
    for path in sorted(directories, key=lambda path: path.count(b"/"), reverse=True):
        if path:
            _hang_up(directories, path, objects)
    framed = frame("tree", encode_tree(directories[b""]))
    return object_id(framed), {**objects, object_id(framed): framed}


def _opened(read_tree: ReadTree, directories: dict[bytes, Tree], path: bytes) -> Tree:
    """The directory at `path`, to be changed; an empty one if there is none."""
    at = b""
    for name in path.split(b"/") if path else []:
        inner = at + b"/" + name if at else name
        if inner not in directories:
            entry = directories[at].get(name)
            is_there = entry is not None and entry.mode == DIRECTORY
            directories[inner] = dict(read_tree(entry.oid)) if entry and is_there else {}
        at = inner
    return directories[at]


def _hang_up(directories: dict[bytes, Tree], path: bytes, objects: dict[str, bytes]) -> None:
    """Put a finished directory into the one above; git stores none that is empty."""
    above, _, name = path.rpartition(b"/")
    parent, tree = directories[above], directories[path]
    if tree:
        framed = frame("tree", encode_tree(tree))
        objects[object_id(framed)] = framed
        parent[name] = TreeEntry(DIRECTORY, object_id(framed))
    elif name in parent and parent[name].mode == DIRECTORY:
        del parent[name]


def _refuse_overtaken(
    read_tree: ReadTree, row: LogEntry, head: str, changes: list[Difference]
) -> None:
    """What is not as the revision left it would lose what came later.

    That nothing is at a path is compared with its reason, too: a file that came later may stand
    where a directory of the path was.
    """
    overtaken = [
        shown(change.path)
        for change in changes
        if lookup(read_tree, head, change.path) != lookup(read_tree, row.tree, change.path)
    ]
    if overtaken:
        raise UndoRefusedError(
            f"changed again since {row.revision}: {_named(overtaken)}; "
            "undo the later revisions first"
        )


def _refuse_twins(read_tree: ReadTree, head: str, changes: list[Difference]) -> None:
    """No tool makes two names that some file system takes for one; nor does an undo."""
    going = {change.path for change in changes if change.old is None}
    back = [change.path for change in changes if change.old is not None]
    twins = [shown(twin) for path in back if (twin := _twin(read_tree, head, path, going, back))]
    if twins:
        raise UndoRefusedError(
            f"what comes back would differ in case or unicode form only from {_named(twins)}"
        )


def _twin(
    read_tree: ReadTree, head: str, path: bytes, going: set[bytes], back: list[bytes]
) -> bytes | None:
    """What stays at `head` beside a new part of `path` under the same name to some file systems."""
    at, tree = b"", read_tree(head)
    for name in path.split(b"/"):
        entry = tree.get(name)
        if entry is None:
            folded = fold(decode(name))
            twins = (
                at + other
                for other, there in tree.items()
                if fold(decode(other)) == folded
                and not _goes(read_tree, at + other, there, going, back)
            )
            return next(twins, None)
        if entry.mode != DIRECTORY:
            return None
        at, tree = at + name + b"/", read_tree(entry.oid)
    return None


def _goes(
    read_tree: ReadTree, path: bytes, entry: TreeEntry, going: set[bytes], back: list[bytes]
) -> bool:
    """Whether the undo leaves nothing at `path`: a directory goes with the last of its files."""
    if entry.mode != DIRECTORY:
        return path in going
    inside = path + b"/"
    return not any(each.startswith(inside) for each in back) and all(
        _goes(read_tree, inside + name, inner, going, back)
        for name, inner in read_tree(entry.oid).items()
    )


def _named(paths: list[str]) -> str:
    more = f" and {len(paths) - SHOWN_MAX} more" if len(paths) > SHOWN_MAX else ""
    return ", ".join(paths[:SHOWN_MAX]) + more
