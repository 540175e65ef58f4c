"""Workspaces of any tree that git could hold: executables, links, submodules, odd names."""

from __future__ import annotations

from functions._runtime.workspace.heads import Commit, Head, WorkspaceName, commit_items, meta_item
from functions._runtime.workspace.objects import (
    DIRECTORY,
    SUBMODULE,
    Tree,
    TreeEntry,
    encode_tree,
    frame,
    object_id,
)
from tests.workspaces import StoredWorkspaces

Files = dict[bytes, tuple[str, bytes]]
"""Paths to modes and bytes; of a submodule the bytes are nothing."""


def stored(workspaces: StoredWorkspaces, root: str, files: Files) -> str:
    """Make a workspace that holds these files; gives its revision."""
    objects: dict[str, bytes] = {}
    tree = _written(files, objects)
    workspaces.objects(root).write(objects)
    name = WorkspaceName("default", root)
    first = Commit(tree, None, "", "tests", "tests", 0, "first", [])
    items = [meta_item(workspaces.stores, name), *commit_items(workspaces.stores, name, first)]
    workspaces.stores.dynamodb.transact_write_items(TransactItems=items)
    return Head(first.seq, tree).revision


def _written(files: Files, objects: dict[str, bytes]) -> str:
    tree: Tree = {}
    below: dict[bytes, Files] = {}
    for path, (mode, data) in files.items():
        first, inside, rest = path.partition(b"/")
        if inside:
            below.setdefault(first, {})[rest] = (mode, data)
        elif mode == SUBMODULE:
            tree[first] = TreeEntry(mode, "0" * 64)
        else:
            tree[first] = TreeEntry(mode, _kept(objects, frame("blob", data)))
    for name, inner in below.items():
        tree[name] = TreeEntry(DIRECTORY, _written(inner, objects))
    return _kept(objects, frame("tree", encode_tree(tree)))


def _kept(objects: dict[str, bytes], framed: bytes) -> str:
    oid = object_id(framed)
    objects[oid] = framed
    return oid
