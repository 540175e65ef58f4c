"""Names that some file system takes for one another, and names that mean git's own directory."""

from __future__ import annotations

import unicodedata

from contracts.ignorable import without_ignorable


def decode(name: bytes) -> str:
    """A name or path as text; bytes that are not UTF-8 become lone surrogates, and back again."""
    return name.decode("utf-8", "surrogateescape")


def encode(path: str) -> bytes:
    """The bytes of a name or path that `decode` gave, or that is plain text."""
    return path.encode("utf-8", "surrogateescape")


def shown(path: bytes) -> str:
    """A path for answers, rows and people, which must be text: odd bytes become escapes."""
    return path.decode("utf-8", "backslashreplace")


def fold(name: str) -> str:
    """What a case-folding, normalising file system compares: equal for twins, and only for them."""
    # Folding can undo normal form and the other way round, so both are done twice.
    once = unicodedata.normalize("NFC", name).casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", once).casefold())


def fold_path(path: str) -> str:
    """A path as the most forgiving file system reads it: for rules that must not be spelt around.

    Beyond `fold`: compatibility forms, ignorable code points, dots or spaces at a name's end, and
    the name of a stream behind a colon.
    """
    text = unicodedata.normalize("NFKC", path)
    parts = without_ignorable(text).split("/")
    return "/".join(fold(part).partition(":")[0].rstrip(". ") for part in parts)


def is_git_directory(name: bytes) -> bool:
    """Whether some file system opens `.git` under this name."""
    return fold_path(decode(name)) in {".git", "git~1"}
