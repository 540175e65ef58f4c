"""A directory on disk as a git tree: links are data, never followed.

Paths are bytes relative to the directory, so names that are not UTF-8 survive.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from hashlib import new as new_hash
from typing import TYPE_CHECKING, NamedTuple

from functions._runtime.workspace.names import is_git_directory, shown
from functions._runtime.workspace.objects import (
    DIRECTORY,
    EXECUTABLE,
    FILE,
    SYMLINK,
    Tree,
    TreeEntry,
    encode_tree,
    frame,
    object_id,
)
from toolgate.workspace.errors import DirectoryError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

FILE_MAX_BYTES = 256 * 1024 * 1024
PATH_MAX_BYTES = 4096
_CHUNK = 1024 * 1024


class LocalFile(NamedTuple):
    """A file or link: its entry in a tree, its size, and its id in the user's own repository."""

    entry: TreeEntry
    size: int
    git_id: str


@dataclass
class LocalTree:
    """A directory as objects: the root's id, all trees as stored, all files by path.

    `left_out` are paths that a tree cannot hold here: other repositories, sockets and the like.
    """

    root: str
    trees: dict[str, bytes]
    files: dict[bytes, LocalFile]
    left_out: list[bytes] = field(default_factory=list)


def scan(
    directory: Path,
    paths: Iterable[bytes] | None = None,
    object_format: str = "sha1",
    submodules: Collection[bytes] = (),
) -> LocalTree:
    """Read a directory: `paths` of it, or everything but `.git`.

    Paths that are not there, or that pass a link, are not in it, nor is a file that has become a
    directory: only `submodules`, and paths that end with `/`, are left out as such. Raises
    DirectoryError.
    """
    top = os.fsencode(directory)
    if not os.path.isdir(top):  # noqa: PTH112 - bytes, and links at the top are the user's choice
        raise DirectoryError(f"{directory} is not a directory")
    files: dict[bytes, LocalFile] = {}
    left_out: list[bytes] = []
    real: dict[bytes, bool] = {b"": True}
    for path in sorted(set(_every_path(top) if paths is None else paths)):
        _refuse_long(path)
        if not _is_real_directory(top, path.rpartition(b"/")[0], real):
            continue
        try:
            found = _read_entry(top + b"/" + path, object_format)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise DirectoryError(f"{shown(path)} cannot be read: {error.strerror}") from error
        if found is None and path not in submodules and _has_become_directory(top, path):
            continue
        if found is None or any(is_git_directory(name) for name in path.split(b"/")):
            left_out.append(path)
        else:
            files[path] = found
    root, trees = build_trees({path: found.entry for path, found in files.items()})
    return LocalTree(root, trees, files, left_out)


def build_trees(files: Mapping[bytes, TreeEntry]) -> tuple[str, dict[str, bytes]]:
    """The root's id, and all trees as stored, of a set of files."""
    directories: dict[bytes, Tree] = {b"": {}}
    for path, entry in files.items():
        parent, _, name = path.rpartition(b"/")
        above = parent
        while above not in directories:
            directories[above] = {}
            above = above.rpartition(b"/")[0]
        directories[parent][name] = entry
    trees: dict[str, bytes] = {}
    oid = ""
    for path in sorted(directories, key=lambda path: (path != b"", path.count(b"/")), reverse=True):
        framed = frame("tree", encode_tree(directories[path]))
        oid = object_id(framed)
        trees[oid] = framed
        if path:
            parent, _, name = path.rpartition(b"/")
            directories[parent][name] = TreeEntry(DIRECTORY, oid)
    return oid, trees


def read_framed(directory: Path, path: bytes, entry: TreeEntry) -> bytes:
    """A file's or link's object, as it was scanned. Raises DirectoryError if it changed since."""
    full = os.fsencode(directory) + b"/" + path
    try:
        if entry.mode == SYMLINK:
            data = os.readlink(full)  # noqa: PTH115 - bytes
        else:
            with open(os.open(full, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:  # noqa: PTH123
                data = file.read()
    except OSError as error:
        raise DirectoryError(f"{shown(path)} cannot be read: {error.strerror}") from error
    framed = frame("blob", data)
    if object_id(framed) != entry.oid:
        raise DirectoryError(f"{shown(path)} changed while it was pushed; push again")
    return framed


def _every_path(top: bytes) -> Iterator[bytes]:
    """All that is no directory, `.git` left aside, in no particular order."""
    todo = [b""]
    while todo:
        inside = todo.pop()
        _refuse_long(inside)
        try:
            with os.scandir(top + b"/" + inside) as listing:
                items = [(item.name, item.is_dir(follow_symlinks=False)) for item in listing]
        except OSError as error:
            raise DirectoryError(
                f"{shown(inside) or '.'} cannot be read: {error.strerror}"
            ) from error
        for name, is_directory in items:
            if name == b".git":
                continue
            if is_directory:
                todo.append(inside + name + b"/")
            else:
                yield inside + name


def _refuse_long(path: bytes) -> None:
    if len(path) > PATH_MAX_BYTES:
        raise DirectoryError(
            f"{shown(path[:60])}... has {len(path)} bytes; a path may have {PATH_MAX_BYTES}"
        )


def _is_real_directory(top: bytes, path: bytes, known: dict[bytes, bool]) -> bool:
    """Whether no part of `path` is a link or a file; `known` remembers."""
    missing = []
    while path not in known:
        missing.append(path)
        path = path.rpartition(b"/")[0]
    answer = known[path]
    for inner in reversed(missing):
        if answer:
            try:
                answer = stat.S_ISDIR(os.lstat(top + b"/" + inner).st_mode)
            except OSError:
                answer = False
        known[inner] = answer
    return answer


def _has_become_directory(top: bytes, path: bytes) -> bool:
    return not path.endswith(b"/") and _is_real_directory(top, path, {b"": True})


def _read_entry(full: bytes, object_format: str) -> LocalFile | None:
    """What one path holds; None for what a tree cannot hold."""
    about = os.lstat(full)
    if stat.S_ISLNK(about.st_mode):
        target = os.readlink(full)  # noqa: PTH115 - bytes
        framed = frame("blob", target)
        git_id = new_hash(object_format, framed, usedforsecurity=False).hexdigest()
        return LocalFile(TreeEntry(SYMLINK, object_id(framed)), len(target), git_id)
    if not stat.S_ISREG(about.st_mode):
        return None
    if about.st_size > FILE_MAX_BYTES:
        raise DirectoryError(
            f"{shown(full)} has {about.st_size} bytes; a file may have {FILE_MAX_BYTES}"
        )
    hashes = [new_hash(name, usedforsecurity=False) for name in ("sha256", object_format)]
    size = 0
    with open(os.open(full, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:  # noqa: PTH123
        for each in hashes:
            each.update(b"blob %d\0" % about.st_size)
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            for each in hashes:
                each.update(chunk)
    if size != about.st_size:
        raise DirectoryError(f"{shown(full)} changed while it was read; try again")
    mode = EXECUTABLE if about.st_mode & stat.S_IXUSR else FILE
    return LocalFile(TreeEntry(mode, hashes[0].hexdigest()), size, hashes[1].hexdigest())
