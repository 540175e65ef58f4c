"""What keeps files from being written into a directory: found before anything is changed."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def obstacles(directory: Path, removed: Iterable[bytes], written: Iterable[bytes]) -> list[bytes]:
    """Paths that stand in the way of removing some files and then writing others.

    A directory where a file must come, with anything in it that stays, be it an empty directory;
    what is neither file, link nor directory; a directory in which nothing can be changed; a path
    that the file system does not take. A link or file above a path is in the way unless it goes.
    """
    look = _Look(os.fsencode(directory), set(removed))
    found = [look.to_write(path) for path in written]
    found += [look.to_change(path) for path in look.removed]
    return [path for path in found if path is not None]


class _Look:
    """A look at one directory; nothing is followed, nothing is changed."""

    def __init__(self, top: bytes, removed: set[bytes]) -> None:
        self.removed = removed
        self._top = top
        self._name_max = os.pathconf(top, "PC_NAME_MAX")
        self._answers: dict[bytes, bytes | None] = {}

    def to_write(self, path: bytes) -> bytes | None:
        """What keeps a file from being put at `path`."""
        if any(len(name) > self._name_max for name in path.split(b"/")):
            return path
        try:
            mode = self._mode(path)
        except OSError:
            return path
        if mode is not None and stat.S_ISDIR(mode):
            if not self._goes(path):
                return path
        elif mode is not None and not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
            return path
        return self.to_change(path)

    def to_change(self, path: bytes) -> bytes | None:
        """What keeps the directory of `path` from being changed, or made."""
        parent = path.rpartition(b"/")[0]
        if parent not in self._answers:
            self._answers[parent] = self._unusable(parent)
        return self._answers[parent]

    def _unusable(self, parent: bytes) -> bytes | None:
        try:
            mode = self._mode(parent)
        except OSError:
            return parent
        if mode is None:
            return self.to_change(parent)
        if not stat.S_ISDIR(mode):
            return self.to_change(parent) if parent in self.removed else parent
        writable = os.access(self._full(parent), os.W_OK | os.X_OK)
        return None if writable else parent or b"."

    def _mode(self, path: bytes) -> int | None:
        """The kind of what is there; None if nothing is, or something above is no directory."""
        try:
            return os.lstat(self._full(path)).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _goes(self, path: bytes) -> bool:
        """Whether a directory is empty, or will be once the files are removed."""
        with os.scandir(self._full(path)) as listing:
            names = [
                (path + b"/" + item.name, item.is_dir(follow_symlinks=False)) for item in listing
            ]
        # One that was empty all along is not removed with the files: nothing of ours was in it.
        return all(
            any(each.startswith(inner + b"/") for each in self.removed) and self._goes(inner)
            if is_directory
            else inner in self.removed
            for inner, is_directory in names
        )

    def _full(self, path: bytes) -> bytes:
        return self._top + b"/" + path if path else self._top
