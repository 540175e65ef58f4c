"""Paths: the ones a request names, and the ones a diff's headers name for the same file.

A header is read against the request's path: one may be the tail of the other (whole components),
after one `a/`-style prefix, `./` and the repository's root are taken off. It never chooses the
file.
"""

from __future__ import annotations

import re

from .hunk import Unusable

_PREFIXES = ("a", "b", "i", "w", "c", "o")
_DATE = re.compile(r" (?:[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:|\d{4}-\d\d-\d\d[ T]\d\d:).*")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

DEV_NULL = "/dev/null"


def normal_path(path: str) -> str | None:
    """`path` without `.` and empty components; None when it is unsafe.

    Unsafe: empty, absolute, with `..`, a backslash, a NUL or a lone surrogate, or inside a `.git`.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or path.startswith("/") or re.search("[\\\\\0\ud800-\udfff]", path):
        return None
    if any(part == ".." or part.lower() == ".git" for part in parts):
        return None
    return "/".join(parts)


def header_name(text: str) -> str:
    """The file name in the text behind `--- ` or `+++ `: unquoted, without a time stamp.

    A tab ends the name for certain; without one a time may follow a blank.
    """
    name, tab, _ = text.strip(" \r").partition("\t")
    if name.startswith('"') and (end := name.rfind('"')) > 0:
        return _unquote(name[1:end])
    return (name if tab else _DATE.sub("", name)).strip()


def git_names(text: str) -> tuple[str, str] | None:
    """The two names behind `diff --git `; None when blanks make that undecidable."""
    if text.startswith('"') and text.count('"') == 4:
        first, second = text[1:-1].split('" "', 1) if '" "' in text else ("", "")
        return (_unquote(first), _unquote(second)) if first else None
    half = len(text) // 2
    old, new = text[:half], text[half + 1 :]
    if text[half : half + 1] == " " and _stripped(old) == _stripped(new):
        return old, new
    names = text.split(" ")
    return (names[0], names[1]) if len(names) == 2 else None


def same_file(name: str, path: str, root: str | None) -> bool:
    """Whether a header's `name` can mean the request's `path`. Raises Unusable UNSAFE_PATH."""
    name = relative(name, root)
    whole, wanted = name.split("/"), path.split("/")
    return _tails(whole, wanted) or _tails(_stripped(name).split("/"), wanted)


def relative(name: str, root: str | None) -> str:
    """`name` below the repository's root. Raises Unusable UNSAFE_PATH when it is not there."""
    if root and name.startswith(root.rstrip("/") + "/"):
        name = name[len(root.rstrip("/")) + 1 :]
    drive = re.match("[A-Za-z]:[\\\\/]", name)
    if name.startswith("/") or drive or ".." in name.replace("\\", "/").split("/"):
        raise Unusable(
            "UNSAFE_PATH",
            "The diff's header names a path outside the repository. Use the same path as 'path'.",
        )
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def canonical(name: str, root: str | None) -> str:
    """A header's name without root and prefix, to tell whether two sections name one file."""
    return _stripped(relative(name, root))


def _stripped(name: str) -> str:
    prefix, slash, rest = name.partition("/")
    return rest if slash and prefix in _PREFIXES else name


def _tails(one: list[str], other: list[str]) -> bool:
    shorter = min(len(one), len(other))
    return one[-shorter:] == other[-shorter:]


def _unquote(text: str) -> str:
    """Undo git's C-style quoting; octal escapes are bytes of UTF-8."""

    def byte(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 8) & 0xFF) if len(code) == 3 else _ESCAPES.get(code, code)

    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(byte, "".join(chr(b) for b in text.encode("utf-8", "surrogateescape")))
    return raw.encode("latin-1").decode("utf-8", "surrogateescape")
