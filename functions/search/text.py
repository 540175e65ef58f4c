"""A file's bytes as the text that is searched, and the part of a line that an answer shows.

Lines end at LF only, as in git; a CR before it belongs to the line's end, so it is neither searched
nor shown, and `$` matches before it.
"""

from __future__ import annotations

BINARY_PROBE_BYTES = 8_000
PREVIEW_MAX_CHARACTERS = 200


def readable(data: bytes) -> bytes | None:
    """The text as UTF-8, each line ending in LF; None for a binary file.

    Bytes that are not UTF-8 are read as Latin-1, whole files at a time.
    """
    if b"\0" in data[:BINARY_PROBE_BYTES]:
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        data = data.decode("latin-1").encode("utf-8")
    return data.replace(b"\r\n", b"\n")


def preview(line: str, start: int, end: int) -> tuple[int, str]:
    """`(first, shown)`: the line or, if it is too long, a part of it, and where the part begins.

    `line[start:end]` is in the part's middle; of a match that is too long itself, its beginning.
    """
    room = max(0, PREVIEW_MAX_CHARACTERS - (end - start))
    first = max(0, min(start - room // 2, len(line) - PREVIEW_MAX_CHARACTERS))
    return first, line[first : first + PREVIEW_MAX_CHARACTERS]
