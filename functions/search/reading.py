"""The files of a snapshot in path order, fetched a few at a time ahead of their use.

Fetching is what a search costs: an object a file, each a round trip. What is given, and where it
ends, depends on the files alone and not on which fetch is quicker.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from contracts.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Generator
    from concurrent.futures import Future

    from functions._runtime.workspace import Snapshot

FILE_MAX_BYTES = 2_000_000
CALL_MAX_BYTES = 64_000_000
AHEAD = 8
"""Files and directories that are fetched before they are needed."""


class Step(NamedTuple):
    """One path further: a directory that is entered, or a file.

    `data`: a file's bytes, or None if they are too many; a directory has none.
    """

    path: bytes
    is_file: bool = False
    data: bytes | None = None


class BytesSpentError(Exception):
    """What one call may fetch has been fetched, and more files follow."""


def steps(
    snapshot: Snapshot,
    glob: str,
    after: bytes,
    *,
    file_max: int = FILE_MAX_BYTES,
    call_max: int = CALL_MAX_BYTES,
) -> Generator[Step, None, None]:
    """Every file behind `after` that fits the glob; links and submodules are passed by.

    Fetches no file of more than `file_max` bytes, and no more than `call_max` in all, but at least
    one file; then it raises BytesSpentError. Raises what the snapshot raises.
    """
    entries = snapshot.entries(glob, after)
    pending: deque[tuple[bytes, Future[bytes | None] | None]] = deque()
    spent, fetching, more = 0, 0, True

    def fetch(oid: str) -> bytes | None:
        try:
            return snapshot.read_blob(oid, max_bytes=file_max)
        except TooLargeError:
            return None

    pool = ThreadPoolExecutor(AHEAD)
    try:
        while True:
            # Each file that is on its way may turn out to be as large as a file can be.
            while more and len(pending) < AHEAD and _fits(spent, fetching, file_max, call_max):
                path, kind, oid = next(entries, _END)
                if kind in {"file", "executable"}:
                    pending.append((path, pool.submit(fetch, oid)))
                    fetching += 1
                elif kind == "directory":
                    pending.append((path, None))
                more = path != _END[0]
            if not pending:
                break
            path, future = pending.popleft()
            if future is None:
                yield Step(path)
                continue
            data = future.result()
            spent, fetching = spent + len(data or b""), fetching - 1
            yield Step(path, is_file=True, data=data)
    finally:
        pool.shutdown(cancel_futures=True)
    if more:
        raise BytesSpentError


_END = (b"", "missing", "")
"""Behind the last entry; no entry's path is empty."""


def _fits(spent: int, fetching: int, file_max: int, call_max: int) -> bool:
    first = spent == fetching == 0
    return first or spent + (fetching + 1) * file_max <= call_max
