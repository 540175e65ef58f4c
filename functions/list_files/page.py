"""One page of a list of paths: it ends at the limit, or before it where the paths are long."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contracts.list_files.v1 import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from functions._runtime.workspace.snapshot import LeafKind

PAGE_MAX_BYTES = 100_000
"""Of the entries as JSON; the first one is always given."""


@dataclass
class Page:
    """What was found; `more` paths follow behind `last`."""

    files: list[Entry] = field(default_factory=list)
    last: bytes = b""
    more: bool = False


def fill(
    found: Iterable[tuple[bytes, LeafKind]], limit: int, max_bytes: int = PAGE_MAX_BYTES
) -> Page:
    """The page that `found` begins with. Takes one more than it gives, to know whether it ends."""
    page, left = Page(), max_bytes
    for path, kind in found:
        entry = Entry(path=path.decode("utf-8", "backslashreplace"), kind=kind)
        left -= len(entry.model_dump_json(by_alias=True).encode("utf-8")) + 1
        if len(page.files) == limit or (page.files and left < 0):
            page.more = True
            break
        page.files.append(entry)
        page.last = path
    return page
