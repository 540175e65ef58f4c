"""Reading trees: one path, all paths in byte order from any point on, what differs between two.

Pure over `ReadTree`; each function reads only the directories that its answer depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from functions._runtime.workspace.globs import Glob, State
from functions._runtime.workspace.objects import (
    DIRECTORY,
    SYMLINK,
    Tree,
    TreeEntry,
    in_order,
)

ReadTree = Callable[[str], Tree]
"""Gives the directory of an id."""


class Found(NamedTuple):
    """What a path leads to. `entry` is None if nothing has that path; `why` then says why."""

    entry: TreeEntry | None
    why: Literal["missing", "not_a_directory", "symlink_parent"] | None


def lookup(read_tree: ReadTree, root: str, path: bytes) -> Found:
    """What stands at `path`. Symlinks are never followed: below one there is nothing."""
    *parents, name = path.split(b"/")
    tree = read_tree(root)
    for parent in parents:
        entry = tree.get(parent)
        if entry is None:
            return Found(None, "missing")
        if entry.mode != DIRECTORY:
            return Found(None, "symlink_parent" if entry.mode == SYMLINK else "not_a_directory")
        tree = read_tree(entry.oid)
    entry = tree.get(name)
    return Found(entry, None if entry else "missing")


def walk(
    read_tree: ReadTree, root: str, glob: Glob, after: bytes = b"", *, directories: bool = False
) -> Iterator[tuple[bytes, TreeEntry]]:
    """Paths that match `glob`, in byte order, without directories; only those greater than `after`.

    Reads a directory when the walk comes to it, and none that cannot hold such a path. With
    `directories` it gives each one that it is about to read, too, its path ending in `/`: a walk
    that is given up there can go on `after` it.
    """
    if not glob.may_hold(glob.start):
        return
    stack = [_listing(read_tree(root), b"", glob.start)]
    while stack:
        for path, entry, outer in stack[-1]:
            state = glob.step(outer, path.rpartition(b"/")[2])
            if entry.mode != DIRECTORY:
                if path > after and glob.accepts(state):
                    yield path, entry
                continue
            inside = path + b"/"
            behind = inside <= after and not after.startswith(inside)
            if glob.may_hold(state) and not behind:
                if directories and inside > after:
                    yield inside, entry
                stack.append(_listing(read_tree(entry.oid), inside, state))
                break
        else:
            stack.pop()


def _listing(tree: Tree, prefix: bytes, state: State) -> Iterator[tuple[bytes, TreeEntry, State]]:
    return iter([(prefix + name, entry, state) for name, entry in in_order(tree)])


class Difference(NamedTuple):
    """One path that two trees disagree on; a side without it is None. Never a directory."""

    path: bytes
    old: TreeEntry | None
    new: TreeEntry | None


def differences(read_tree: ReadTree, old: str | None, new: str | None) -> list[Difference]:
    """What differs between two trees (None: an empty one), in byte order.

    Reads only the directories that differ.
    """
    found: list[Difference] = []
    stack: list[tuple[bytes, str | None, str | None]] = [(b"", old, new)]
    while stack:
        prefix, before, after = stack.pop()
        if before == after:
            continue
        ours = read_tree(before) if before else {}
        theirs = read_tree(after) if after else {}
        for name in ours.keys() | theirs.keys():
            one, two = ours.get(name), theirs.get(name)
            if one == two:
                continue
            path = prefix + name
            inner = tuple(e.oid if e and e.mode == DIRECTORY else None for e in (one, two))
            if any(inner):
                stack.append((path + b"/", inner[0], inner[1]))
            leaves = tuple(None if e and e.mode == DIRECTORY else e for e in (one, two))
            if any(leaves):
                found.append(Difference(path, leaves[0], leaves[1]))
    return sorted(found, key=lambda difference: difference.path)
