"""Git's blobs and trees with SHA-256 ids, as bytes in and bytes out.

An object is stored as git frames it before compression: `blob 5\\0hello`. Its id is the SHA-256 of
exactly those bytes, so what a store returns proves itself. A tree made here has the id that
`git write-tree` prints for the same files in a repository of `--object-format=sha256`.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

ObjectKind = Literal["blob", "tree"]
EntryKind = Literal["file", "executable", "symlink", "submodule", "directory"]

FILE, EXECUTABLE, SYMLINK, SUBMODULE, DIRECTORY = "100644", "100755", "120000", "160000", "40000"
KINDS: dict[str, EntryKind] = {
    FILE: "file",
    EXECUTABLE: "executable",
    SYMLINK: "symlink",
    SUBMODULE: "submodule",
    DIRECTORY: "directory",
}
"""What stands at a tree entry, by its mode."""

_ID_BYTES = 32
_HEADER_MAX = 32


class MalformedObjectError(ValueError):
    """Bytes that are no git object of the kind asked for, or not the one that the id names."""


class TreeEntry(NamedTuple):
    """One name of a directory: its mode, as git writes it, and the id of what it holds."""

    mode: str
    oid: str

    @property
    def kind(self) -> EntryKind:
        """What stands there."""
        return KINDS[self.mode]


Tree = dict[bytes, TreeEntry]
"""A directory: names, as bytes without `/`, to entries."""


def frame(kind: ObjectKind, payload: bytes) -> bytes:
    """An object's bytes, as stored."""
    return b"%s %d\0" % (kind.encode(), len(payload)) + payload


def object_id(framed: bytes) -> str:
    """The id of an object's stored bytes: 64 lower-case hexadecimal digits."""
    return sha256(framed).hexdigest()


def is_object_id(text: str) -> bool:
    """Whether `text` is written as an id is."""
    return len(text) == 2 * _ID_BYTES and not set(text) - set("0123456789abcdef")


def payload_size(start: bytes) -> int:
    """How many bytes an object holds, by the start of its stored form.

    Raises MalformedObjectError.
    """
    header, end, _ = start[:_HEADER_MAX].partition(b"\0")
    size = header.partition(b" ")[2]
    if not end or not size.isdigit():
        raise MalformedObjectError("the object has no header")
    return int(size)


def open_object(oid: str, kind: ObjectKind, framed: bytes) -> bytes:
    """What the object `oid` holds. Raises MalformedObjectError unless the bytes are that object."""
    if object_id(framed) != oid:
        raise MalformedObjectError("the object's bytes do not match its id")
    header, _, payload = framed.partition(b"\0")
    if header != b"%s %d" % (kind.encode(), len(payload)):
        raise MalformedObjectError(f"the object is no {kind}")
    return payload


def encode_tree(tree: Mapping[bytes, TreeEntry]) -> bytes:
    """A tree's payload. Git sorts a directory as if its name ended with a slash."""
    return b"".join(
        b"%s %s\0%s" % (entry.mode.encode(), name, bytes.fromhex(entry.oid))
        for name, entry in in_order(tree)
    )


def in_order(tree: Mapping[bytes, TreeEntry]) -> list[tuple[bytes, TreeEntry]]:
    """The entries in git's order, in which whole paths come out in byte order."""
    return sorted(
        tree.items(), key=lambda item: item[0] + b"/" if item[1].mode == DIRECTORY else item[0]
    )


def decode_tree(payload: bytes) -> Tree:
    """A tree's entries. Raises MalformedObjectError for bytes that git would not write."""
    tree: Tree = {}
    position = 0
    while position < len(payload):
        end = payload.find(b"\0", position)
        mode, space, name = payload[position : max(end, position)].partition(b" ")
        position = end + 1 + _ID_BYTES
        text = mode.decode("ascii", "replace")
        if end < 0 or not space or text not in KINDS or position > len(payload):
            raise MalformedObjectError("the tree is malformed")
        if name in tree or name in {b"", b".", b".."} or b"/" in name:
            raise MalformedObjectError("the tree holds a name that no directory can")
        tree[name] = TreeEntry(text, payload[end + 1 : position].hex())
    if encode_tree(tree) != payload:
        raise MalformedObjectError("the tree is not in git's order")
    return tree


EMPTY_TREE = object_id(frame("tree", b""))
"""The id of a directory without entries; git stores one only as a whole repository's tree."""
