"""One revision of a workspace, read lazily: whatever happens to the head, its answers agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from contracts.errors import ForbiddenPathError
from functions._runtime.workspace.globs import Glob
from functions._runtime.workspace.names import encode
from functions._runtime.workspace.objects import EntryKind
from functions._runtime.workspace.store import READ_MAX_BYTES
from functions._runtime.workspace.walk import Found, lookup, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from functions._runtime.workspace.heads import Head
    from functions._runtime.workspace.objects import Tree
    from functions._runtime.workspace.store import Clock, ObjectStore

PathKind = EntryKind | Literal["missing", "not_a_directory", "symlink_parent"]
LeafKind = Literal["file", "executable", "symlink", "submodule"]


@dataclass(frozen=True)
class Entry:
    """What a path leads to.

    `data`: a file's bytes or a symlink's target; empty for all else. `not_a_directory` and
    `symlink_parent`: a part of the path before its last is a file, or a symlink.
    """

    kind: PathKind
    data: bytes = b""

    @property
    def size(self) -> int:
        """How many bytes `data` has."""
        return len(self.data)

    @property
    def is_file(self) -> bool:
        """Whether it is a file, executable or not."""
        return self.kind in {"file", "executable"}


class Snapshot:
    """A revision. Reading raises as the object store does, and when time is up."""

    def __init__(self, head: Head, store: ObjectStore, clock: Clock) -> None:
        self.head = head
        self._store = store
        self._clock = clock

    @property
    def revision(self) -> str:
        """`{seq}-{tree}`, opaque to callers."""
        return self.head.revision

    @property
    def tree(self) -> str:
        """Id of its root directory."""
        return self.head.tree

    def read(self, path: str, *, max_bytes: int = READ_MAX_BYTES) -> Entry:
        """What stands at `path`. A link is reported, not followed.

        Raises TooLargeError, without fetching it, for a file of more than `max_bytes`.
        """
        found = self.find(path)
        if found.entry is None:
            return Entry(found.why or "missing")
        kind = found.entry.kind
        if kind in {"directory", "submodule"}:
            return Entry(kind)
        return Entry(kind, self._store.blob(found.entry.oid, max_bytes))

    def find(self, path: str) -> Found:
        """The tree's entry at `path`, by reading directories alone, or why there is none."""
        return lookup(self.read_tree, self.tree, encode(path))

    def kind(self, path: str) -> PathKind:
        """What stands at `path`, by reading directories alone."""
        found = self.find(path)
        return found.entry.kind if found.entry else found.why or "missing"

    def read_file(self, path: str, *, max_bytes: int = READ_MAX_BYTES) -> Entry:
        """As `read`, but raises ForbiddenPathError if the path is or passes a symlink."""
        entry = self.read(path, max_bytes=max_bytes)
        if entry.kind in {"symlink", "symlink_parent"}:
            raise ForbiddenPathError(
                "the path is, or passes through, a symbolic link; links are never followed",
                path=path,
                reason="SYMLINK",
            )
        return entry

    def walk(self, glob: str = "**", *, after: bytes = b"") -> Iterator[tuple[bytes, LeafKind]]:
        """Paths that match `glob` and are greater than `after`, in byte order; no directories.

        Reads directories as it comes to them, so stopping early costs nothing.
        """
        for path, entry in walk(self.read_tree, self.tree, Glob.of(glob), after):
            yield path, cast("LeafKind", entry.kind)

    def entries(self, glob: str, after: bytes) -> Iterator[tuple[bytes, EntryKind, str]]:
        """As `walk`, with each entry's id, and with each directory that is about to be read.

        A directory's path ends in `/`; going on `after` it leaves nothing out.
        """
        found = walk(self.read_tree, self.tree, Glob.of(glob), after, directories=True)
        for path, entry in found:
            yield path, entry.kind, entry.oid

    def read_tree(self, oid: str) -> Tree:
        """A directory by its id."""
        self._clock.check()
        return self._store.tree(oid)

    def read_blob(self, oid: str, *, max_bytes: int = READ_MAX_BYTES) -> bytes:
        """A file's bytes by id."""
        return self._store.blob(oid, max_bytes)
