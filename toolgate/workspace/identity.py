"""Which directory stands at a path: a new one under an old name is another one."""

from __future__ import annotations

import ctypes
import os
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Linux tells when a file was made by statx(2) alone, which Python's `os` does not call.
_AT_FDCWD, _STATX_BTIME, _STATX_BYTES, _BTIME_AT = -100, 0x800, 256, 80


def identity(directory: Path) -> str:
    """What a directory keeps for its life, moves included; inodes alone are soon given out again.

    Where no time of its making is kept, the inode must do. Raises OSError.
    """
    about = directory.stat()
    born = getattr(about, "st_birthtime", None) or _born(directory)
    return f"{about.st_ino}:{born}"


def _born(directory: Path) -> str | None:
    statx = getattr(ctypes.CDLL(None), "statx", None)
    if statx is None:
        return None
    answer = ctypes.create_string_buffer(_STATX_BYTES)
    if statx(_AT_FDCWD, os.fsencode(directory), 0, _STATX_BTIME, answer):
        return None
    (told,) = struct.unpack_from("I", answer)
    seconds, nanoseconds = struct.unpack_from("qI", answer, _BTIME_AT)
    return f"{seconds}.{nanoseconds:09}" if told & _STATX_BTIME else None
