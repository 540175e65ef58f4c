"""A change of files as new git objects: pure, and it reads only the directories on their paths.

ConflictError       details.path, details.code:
                    NOT_A_DIRECTORY      a part of the path is a file
                    IS_A_DIRECTORY       the path is a directory
                    SUBMODULE            the path is a submodule or lies in one
                    PATH_CASE_COLLISION  some file system would take two names for one
                    SAME_PATH_TWICE      two writes name one path
ForbiddenPathError  details.path, details.reason SYMLINK: the path is or passes a symlink
NotFoundError       details.path: nothing to delete there
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from contracts.errors import ConflictError, ForbiddenPathError, NotFoundError
from contracts.types import Answer
from functions._runtime.workspace.names import decode, encode, fold, shown
from functions._runtime.workspace.objects import (
    DIRECTORY,
    EXECUTABLE,
    FILE,
    SUBMODULE,
    SYMLINK,
    Tree,
    TreeEntry,
    encode_tree,
    frame,
    object_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from functions._runtime.workspace.walk import ReadTree

A = TypeVar("A", bound=Answer)


@dataclass(frozen=True)
class FileWrite:
    """One file as it shall be. `executable` None keeps the bit it has.

    `data` None deletes it, unless `oid` names a file's object that the workspace holds already.
    """

    path: str
    data: bytes | None
    executable: bool | None = None
    oid: str | None = None

    @property
    def deletes(self) -> bool:
        """Whether the file shall be gone."""
        return self.data is None and self.oid is None


@dataclass(frozen=True)
class Edit(Generic[A]):
    """What a handler wants done: the files, the answer if it is done, a line for history.

    `answer` is given the revision that the change makes; in a dry run, the one it was tried on.
    `settled`: the writes follow from the call alone, whatever the workspace holds.
    """

    writes: Sequence[FileWrite]
    answer: Callable[[str], A]
    message: str
    settled: bool = False


@dataclass(frozen=True)
class TreeChange:
    """A new tree, and the objects that it needs beyond the old one's: as stored, by id."""

    root: str
    blobs: dict[str, bytes]
    trees: dict[str, bytes]


@dataclass
class _Node:
    """What the writes say about one path, and about the paths below it."""

    path: bytes
    write: FileWrite | None = None
    children: dict[bytes, _Node] = field(default_factory=dict)


@dataclass
class _Directory:
    """A directory on the way: as it was, as it becomes, and where it hangs."""

    node: _Node
    oid: str | None
    parent: _Directory | None
    name: bytes
    before: Tree
    tree: Tree


def change_tree(read_tree: ReadTree, root: str, writes: Sequence[FileWrite]) -> TreeChange:
    """Do `writes` to the tree `root`, deletions first. Raises as the module says."""
    change = TreeChange(root, {}, {})
    directories = _deleted_from(read_tree, root, _as_nodes(writes))
    # Inner directories come after outer ones, so backwards each is whole before its parent is.
    # A loop and not a recursion: a path may have more parts than Python has stack frames.
    for directory in reversed(directories):
        change = _finish(directory, change)
    return change


def _as_nodes(writes: Sequence[FileWrite]) -> _Node:
    top = _Node(b"")
    for write in writes:
        node = top
        for name in encode(write.path).split(b"/"):
            path = node.path + b"/" + name if node.path else name
            node = node.children.setdefault(name, _Node(path))
        if node.write is not None:
            raise _conflict("the path is written twice", node.path, "SAME_PATH_TWICE")
        node.write = write
    return top


def _deleted_from(read_tree: ReadTree, root: str, top: _Node) -> list[_Directory]:
    """All directories on the writes' paths, outer before inner, with the deletions done."""
    found: list[_Directory] = []
    todo: list[tuple[_Node, str | None, _Directory | None, bytes]] = [(top, root, None, b"")]
    while todo:
        node, oid, parent, name = todo.pop()
        before = read_tree(oid) if oid else {}
        directory = _Directory(node, oid, parent, name, before, dict(before))
        found.append(directory)
        for inner, child in node.children.items():
            if child.write is not None and child.write.deletes:
                _delete(directory.tree, inner, child.path)
            if child.children:
                entry = directory.tree.get(inner)
                _refuse_what_is_no_directory(entry, child.path)
                todo.append((child, entry.oid if entry else None, directory, inner))
    return found


def _finish(directory: _Directory, change: TreeChange) -> TreeChange:
    """Do a directory's own writes, its inner directories being done, and hang it up."""
    tree, parent = directory.tree, directory.parent
    for name, child in directory.node.children.items():
        if child.write is not None and not child.write.deletes:
            _put(tree, name, child.path, child.write, change.blobs)
    _refuse_twins(tree, tree.keys() - directory.before.keys(), directory.node.path)
    if parent is not None and not tree:
        # Git stores no empty directory but the root.
        parent.tree.pop(directory.name, None)
        return change
    framed = frame("tree", encode_tree(tree))
    oid = object_id(framed)
    if oid != directory.oid:
        change.trees[oid] = framed
    if parent is None:
        return replace(change, root=oid)
    parent.tree[directory.name] = TreeEntry(DIRECTORY, oid)
    return change


def _put(tree: Tree, name: bytes, path: bytes, write: FileWrite, blobs: dict[str, bytes]) -> None:
    entry = tree.get(name)
    _refuse_what_is_no_file(entry, path)
    mode = entry.mode if entry else FILE
    if write.executable is not None:
        mode = EXECUTABLE if write.executable else FILE
    if write.oid is not None:
        tree[name] = TreeEntry(mode, write.oid)
        return
    framed = frame("blob", write.data or b"")
    oid = object_id(framed)
    if entry is None or entry.oid != oid:
        blobs[oid] = framed
    tree[name] = TreeEntry(mode, oid)


def _delete(tree: Tree, name: bytes, path: bytes) -> None:
    entry = tree.get(name)
    if entry is None:
        raise NotFoundError("there is no such file to delete", path=shown(path))
    _refuse_what_is_no_file(entry, path)
    del tree[name]


def _refuse_what_is_no_file(entry: TreeEntry | None, path: bytes) -> None:
    if entry is None or entry.mode in {FILE, EXECUTABLE}:
        return
    _refuse_link(entry, path)
    code = "SUBMODULE" if entry.mode == SUBMODULE else "IS_A_DIRECTORY"
    raise _conflict("the path is a directory", path, code)


def _refuse_what_is_no_directory(entry: TreeEntry | None, path: bytes) -> None:
    if entry is None or entry.mode == DIRECTORY:
        return
    _refuse_link(entry, path)
    code = "SUBMODULE" if entry.mode == SUBMODULE else "NOT_A_DIRECTORY"
    raise _conflict("a part of the path is not a directory", path, code)


def _refuse_link(entry: TreeEntry, path: bytes) -> None:
    if entry.mode == SYMLINK:
        raise ForbiddenPathError(
            "the path is, or passes through, a symbolic link; links are never followed",
            path=shown(path),
            reason="SYMLINK",
        )


def _refuse_twins(tree: Tree, added: set[bytes], directory: bytes) -> None:
    if not added:
        return
    seen: dict[str, bytes] = {}
    # Names that were there come first, so that the new one of two is the one complained of.
    for name in sorted(tree, key=lambda name: (name in added, name)):
        twin = seen.setdefault(fold(decode(name)), name)
        if twin != name and name in added:
            path = directory + b"/" + name if directory else name
            raise _conflict(
                "another name differs only in case or unicode form",
                path,
                "PATH_CASE_COLLISION",
                existing=shown(twin),
            )


def _conflict(message: str, path: bytes, code: str, **details: str) -> ConflictError:
    return ConflictError(message, path=shown(path), code=code, **details)
