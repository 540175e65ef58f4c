"""A zip whose bytes follow from its files alone: no clock, no order of arrival, no compressor.

Files are stored as they are, because two builds of zlib may compress the same bytes differently.
"""

from __future__ import annotations

import io
import unicodedata
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal["file", "executable", "symlink"]

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold."""
_MODES: Mapping[Kind, int] = {"file": 0o100644, "executable": 0o100755, "symlink": 0o120777}
_UNIX = 3
_LINKS_MAX = 40


@dataclass(frozen=True)
class Member:
    """One file; of a symlink, `data` is its target."""

    path: str
    kind: Kind
    data: bytes


def pack(members: Iterable[Member]) -> bytes:
    """The zip of these files, in the byte order of their paths."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for member in sorted(members, key=lambda member: member.path.encode()):
            info = zipfile.ZipInfo(member.path, EPOCH)
            info.create_system = _UNIX
            info.external_attr = _MODES[member.kind] << 16
            archive.writestr(info, member.data)
    return buffer.getvalue()


def link_that_leaves(members: Iterable[Member]) -> str | None:
    """The first symlink that does not lead to a place inside the archive, or leads in a circle.

    Links are followed as an unpacked archive would, one through another.
    """
    links = {member.path: member.data for member in members if member.kind == "symlink"}
    folded = {_fold(path): target for path, target in links.items()}
    return next((path for path in sorted(links) if _leaves(path, folded)), None)


def twins(paths: Iterable[str]) -> str | None:
    """The first path that some file system would take for another one of them."""
    seen: dict[str, str] = {}
    for path in paths:
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            part = "/".join(parts[:end])
            if seen.setdefault(_fold(part), part) != part:
                return path
    return None


def _fold(path: str) -> str:
    """A path as file systems compare it that tell neither case nor Unicode form apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _leaves(path: str, links: Mapping[str, bytes]) -> bool:
    waiting, followed = path.split("/")[::-1], 0
    place: list[str] = []
    while waiting:
        part = waiting.pop()
        if part == "..":
            if not place:
                return True
            place.pop()
            continue
        if part in {"", "."}:
            continue
        place.append(part)
        target = links.get(_fold("/".join(place)))
        if target is None:
            continue
        followed += 1
        # A backslash is a separator, and a colon ends a drive, where some archives are unpacked.
        odd = not target or target.startswith(b"/") or {*target} & {*b"\\:\0"}
        if odd or followed > _LINKS_MAX:
            return True
        place.pop()
        waiting += target.decode("utf-8", "surrogateescape").split("/")[::-1]
    return False
