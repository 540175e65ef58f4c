"""Trees as git commits, as the stream that `git fast-import` reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from functions._runtime.workspace.names import is_git_directory, shown
from functions._runtime.workspace.objects import SUBMODULE
from toolgate.workspace.errors import PullRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from functions._runtime.workspace.objects import TreeEntry

    ReadBlob = Callable[[bytes, TreeEntry], bytes]

_BARE_NAME = str.maketrans("", "", "<>\n\r\0")


@dataclass(frozen=True)
class CommitText:
    """What a commit says about itself; the time in milliseconds since the epoch."""

    by: str
    at_ms: int
    message: str


def commit(
    ref: str,
    parent: str | None,
    text: CommitText,
    changes: Iterable[tuple[bytes, TreeEntry | None]],
    read: ReadBlob,
    *,
    prefix: bytes = b"",
    ids: Mapping[bytes, str] | None = None,
) -> Iterator[bytes]:
    """The stream of one commit on `ref`, after `parent`, or after what the stream has there.

    `changes` are paths with what stands there now (None: nothing); `prefix` goes before each.
    `ids` are blobs that the repository has, for paths which are then not read.
    Raises PullRefusedError for a path that git must not hold.
    """
    who = b"%s <%s> %d +0000" % (*_identity(text.by), text.at_ms // 1000)
    message = text.message.encode("utf-8", "surrogateescape")
    yield b"commit %s\nauthor %s\ncommitter %s\n" % (ref.encode(), who, who)
    yield b"data %d\n%s\n" % (len(message), message)
    if parent:
        yield b"from %s\n" % parent.encode()
    written: list[tuple[bytes, TreeEntry]] = []
    for path, entry in changes:
        refuse_git_directory(path)
        if entry is None:
            yield b"D %s\n" % _quoted(prefix + path)
        elif entry.mode != SUBMODULE:
            written.append((path, entry))
    # Deletions have gone first, so that a file can become a directory and the other way round.
    for path, entry in written:
        if oid := (ids or {}).get(path):
            yield b"M %s %s %s\n" % (entry.mode.encode(), oid.encode(), _quoted(prefix + path))
            continue
        data = read(path, entry)
        yield b"M %s inline %s\n" % (entry.mode.encode(), _quoted(prefix + path))
        yield b"data %d\n%s\n" % (len(data), data)


def refuse_git_directory(path: bytes) -> None:
    """Raise PullRefusedError for a path that would reach into a `.git` directory."""
    if any(is_git_directory(name) for name in path.split(b"/")):
        raise PullRefusedError(f"the workspace holds {shown(path)}, which must not be written here")


def _identity(by: str) -> tuple[bytes, bytes]:
    name = by.translate(_BARE_NAME).strip() or "unknown"
    mailbox = "".join(c if c.isascii() and (c.isalnum() or c in ".-_") else "-" for c in name)
    return name.encode("utf-8", "replace"), f"{mailbox}@toolgate.invalid".encode()


def _quoted(path: bytes) -> bytes:
    """A path in git's C style: everything but plain ASCII as octal."""
    plain = b"".join(
        b"\\%03o" % byte if byte < 0x20 or byte > 0x7E or byte in b'"\\' else bytes([byte])
        for byte in path
    )
    return b'"' + plain + b'"'
