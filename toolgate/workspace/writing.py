"""Write files below one directory, whatever stands there: no link is ever followed."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Self

from functions._runtime.workspace.names import shown
from toolgate.workspace.errors import DirectoryError, PullRefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class DirectoryWriter:
    """Writes below one directory, opening each part of a path without following links.

    Its methods raise PullRefusedError if something stands in the way. Raises DirectoryError if the
    directory cannot be opened.
    """

    def __init__(self, directory: Path) -> None:
        try:
            self._top = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise DirectoryError(f"{directory} cannot be opened: {error.strerror}") from error
        self._numbers = count()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._top)

    def put_file(self, path: bytes, data: bytes, *, executable: bool) -> None:
        """Write a file whole or not at all; permissions but the executable bit stay."""
        with self._parent(path) as (parent, name):
            old = _lstat(parent, name)
            spare = self._spare_name()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            new = os.open(spare, flags, 0o777 if executable else 0o666, dir_fd=parent)
            try:
                with open(new, "wb") as file:  # noqa: PTH123 - it is a descriptor
                    file.write(data)
                    if old is not None and stat.S_ISREG(old.st_mode):
                        os.fchmod(file.fileno(), _with_bit(old.st_mode, executable=executable))
                self._move(parent, spare, name)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(spare, dir_fd=parent)
                raise

    def put_link(self, path: bytes, target: bytes) -> None:
        """Write a symbolic link."""
        with self._parent(path) as (parent, name):
            spare = self._spare_name()
            os.symlink(target, spare, dir_fd=parent)
            self._move(parent, spare, name)

    def remove(self, path: bytes) -> None:
        """Remove a file or link, and directories that it leaves empty."""
        with self._parent(path) as (parent, name), suppress(FileNotFoundError):
            os.unlink(name, dir_fd=parent)
        above = path.rpartition(b"/")[0]
        while above:
            with self._parent(above) as (parent, name):
                try:
                    os.rmdir(name, dir_fd=parent)
                except OSError:
                    return
            above = above.rpartition(b"/")[0]

    def _move(self, parent: int, spare: bytes, name: bytes) -> None:
        old = _lstat(parent, name)
        if old is not None and stat.S_ISDIR(old.st_mode):
            # Only an empty directory goes; what is in a full one is not ours to remove.
            os.rmdir(name, dir_fd=parent)
        os.replace(spare, name, src_dir_fd=parent, dst_dir_fd=parent)

    @contextmanager
    def _parent(self, path: bytes) -> Iterator[tuple[int, bytes]]:
        """The open directory that `path` lies in, made if need be, and the name in it."""
        *parents, name = path.split(b"/")
        current = os.dup(self._top)
        try:
            for part in parents:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=current)
                inner = os.open(part, _DIRECTORY_FLAGS, dir_fd=current)
                os.close(current)
                current = inner
            yield current, name
        except OSError as error:
            raise PullRefusedError(f"{shown(path)} cannot be written: {error.strerror}") from error
        finally:
            os.close(current)

    def _spare_name(self) -> bytes:
        return b".toolgate-%d-%d" % (os.getpid(), next(self._numbers))


def _lstat(parent: int, name: bytes) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _with_bit(mode: int, *, executable: bool) -> int:
    """Permissions with the executable bit for whoever may read, or for nobody."""
    permissions = stat.S_IMODE(mode)
    return permissions | (permissions & 0o444) >> 2 if executable else permissions & ~0o111
