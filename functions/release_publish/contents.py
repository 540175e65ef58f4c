"""The files of a revision that a release is made of, read within bounds.

ConflictError  details.code EMPTY, UNSAFE_NAME, SUBMODULE or LINK_LEAVES, details.path where one is
TooLargeError  more than FILES_MAX files or BYTES_MAX bytes; `actual` is as far as was counted
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from contracts.errors import ConflictError, TooLargeError
from contracts.types import path_problem
from functions.release_publish.archive import Member, link_that_leaves, twins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from functions._runtime.workspace import Snapshot
    from functions.release_publish.archive import Kind

FILES_MAX = 1_000
BYTES_MAX = 50_000_000
"""What one call can read, pack and store within its time and memory."""
_PARALLEL = 16

_Entry = tuple[str, "Kind", str]


def contents(snapshot: Snapshot) -> list[Member]:
    """Every file of the snapshot. Raises as the module says, and as reading does."""
    members = _read(snapshot, listed(snapshot))
    if path := link_that_leaves(members):
        raise ConflictError(
            "a symbolic link does not lead to a place inside the release",
            code="LINK_LEAVES",
            path=path,
        )
    return members


def listed(snapshot: Snapshot) -> list[_Entry]:
    """What the snapshot's directories say of its files. Raises as the module says of these."""
    entries = list(islice(_entries(snapshot), FILES_MAX + 1))
    if not entries:
        raise ConflictError(
            "the revision holds no files: there is nothing to release", code="EMPTY"
        )
    if len(entries) > FILES_MAX:
        raise TooLargeError(
            f"the revision holds more than {FILES_MAX} files",
            limit=FILES_MAX,
            actual=len(entries),
        )
    if path := twins(path for path, _, _ in entries):
        raise ConflictError(
            "a path differs from another only in case or unicode form: it cannot be unpacked "
            "everywhere",
            code="UNSAFE_NAME",
            path=path,
        )
    return entries


def _entries(snapshot: Snapshot) -> Iterator[_Entry]:
    for name, kind, oid in snapshot.entries("**", b""):
        if kind == "directory":
            continue
        if problem := path_problem(name.decode("utf-8", "surrogateescape")):
            raise ConflictError(
                f"a path {problem}: it cannot be unpacked everywhere",
                code="UNSAFE_NAME",
                path=name.decode("utf-8", "backslashreplace"),
            )
        path = name.decode()
        if kind == "submodule":
            raise ConflictError(
                "the revision names a submodule, whose files it does not hold",
                code="SUBMODULE",
                path=path,
            )
        yield path, kind, oid


def _read(snapshot: Snapshot, entries: list[_Entry]) -> list[Member]:
    """A handful at a time, so that what is too large in all is noticed before it is in memory."""
    members: list[Member] = []
    size = 0
    with ThreadPoolExecutor(_PARALLEL) as pool:
        for start in range(0, len(entries), _PARALLEL):
            some = entries[start : start + _PARALLEL]
            for (path, kind, _), data in zip(
                some, pool.map(partial(_data, snapshot), some), strict=True
            ):
                size += len(data)
                members.append(Member(path, kind, data))
            if size > BYTES_MAX:
                raise TooLargeError(
                    "the revision's files hold more bytes than a release may",
                    limit=BYTES_MAX,
                    actual=size,
                )
    return members


def _data(snapshot: Snapshot, entry: _Entry) -> bytes:
    return snapshot.read_blob(entry[2], max_bytes=BYTES_MAX)
