"""A file as lines, and the three degrees of equality a hunk may be matched with.

Bytes are decoded as UTF-8 with `surrogateescape`, so that any byte survives a round trip. Lines end
at `"\\n"` and nowhere else: form feed, a lone carriage return, NEL and U+2028 are ordinary
characters. The CR of a CRLF belongs to its line; only the tiers above EXACT look past it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Literal

BOM = "\ufeff"
_SNIFFED_BYTES = 8_000

Eol = Literal["lf", "crlf", "mixed", "none"]


class Tier(IntEnum):
    """How much a hunk's old lines may differ from the file's. Nothing looser exists."""

    EXACT = 0
    """Equal characters, and agreement about the final newline."""
    LINE_ENDINGS = 1
    """One trailing CR, a byte-order mark on line 1 and the final newline are ignored."""
    TRAILING_BLANKS = 2
    """Blanks and tabs at the end of a line are ignored as well."""


def fold(line: str, tier: Tier) -> str:
    """The part of `line` that must be equal at `tier`."""
    if tier is Tier.EXACT:
        return line
    line = line.removesuffix("\r")
    return line if tier is Tier.LINE_ENDINGS else line.rstrip(" \t")


@dataclass(frozen=True, eq=False)
class FileText:
    """The lines of a file without their `"\\n"`, and whether the last one has it."""

    lines: list[str]
    terminated: bool

    @classmethod
    def decode(cls, data: bytes) -> FileText:
        """Split `data` into lines. An empty file has no lines and counts as terminated."""
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        terminated = lines[-1] == ""
        return cls(lines[:-1] if terminated else lines, terminated)

    def encode(self) -> bytes:
        """The bytes that `decode` turns back into this text."""
        end = "\n" if self.lines and self.terminated else ""
        return ("\n".join(self.lines) + end).encode("utf-8", "surrogateescape")

    @cached_property
    def sha256(self) -> str:
        """Hex digest of the bytes."""
        return hashlib.sha256(self.encode()).hexdigest()

    @cached_property
    def eol(self) -> Eol:
        """The line endings in use."""
        ends = len(self.lines) - (not self.terminated)
        crlf = self._crlf_count
        if ends <= 0:
            return "none"
        if crlf in (0, ends):
            return "crlf" if crlf else "lf"
        return "mixed"

    @cached_property
    def mostly_crlf(self) -> bool:
        """Whether more lines end in CRLF than in LF."""
        return 2 * self._crlf_count > len(self.lines) - (not self.terminated)

    @cached_property
    def has_bom(self) -> bool:
        """Whether the file starts with a byte-order mark."""
        return bool(self.lines) and self.lines[0].startswith(BOM)

    def ending_of(self, index: int) -> bool | None:
        """Whether line `index` ends in CRLF; None for a last line without an ending."""
        if index == len(self.lines) - 1 and not self.terminated:
            return None
        return self.lines[index].endswith("\r")

    @cached_property
    def _crlf_count(self) -> int:
        ended = self.lines if self.terminated else self.lines[:-1]
        return [line[-1:] for line in ended].count("\r")


def is_binary(data: bytes) -> bool:
    """Whether git would call these bytes binary: a NUL among the first 8,000."""
    return b"\0" in data[:_SNIFFED_BYTES]
