"""The entries of a request, and what they alone rule out, whatever the files hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .hunk import Patch, Unusable
from .parse import parse_patch
from .paths import normal_path
from .report import Invalid

MAX_FILES = 40
MAX_DIFF_LINES = 250_000

WITHOUT_TEXT = frozenset({"delete", "move"})
"""Modes whose entries carry no content."""


OF_PATHS = frozenset({"UNSAFE_PATH", "DUPLICATE_PATH", "PATH_CLASH"})
"""Codes that object to a path and not to a text."""


@dataclass(frozen=True)
class FileChange:
    """One entry of a request; any object with these attributes will do."""

    path: str
    """The file, relative to the repository, with `/` between components."""
    mode: str
    """`unified_diff`, `replace_full`, `delete` or `move`."""
    content: str = ""
    """The diff, or the whole new text."""
    new_path: str = ""
    """Where a file is moved to; asked for in that mode only."""


def paths_of(entry: FileChange) -> tuple[str, ...]:
    """The paths that an entry changes, as they are given."""
    return (entry.path, entry.new_path) if entry.mode == "move" else (entry.path,)


def read_request(
    files: Sequence[FileChange], root: str | None
) -> tuple[list[Patch | None], list[Invalid]]:
    """Each entry's patch, None where there is none, and every objection to the request.

    `root` is the repository's absolute path as the caller names it: headers may use it.
    """
    if not files:
        return [], [Invalid("", "NO_FILES", "Send at least one file.")]
    if len(files) > MAX_FILES:
        hint = f"Send at most {MAX_FILES} files a request; this one has {len(files)}."
        return [], [Invalid("", "TOO_MANY_FILES", hint)]
    lines = sum(entry.content.count("\n") for entry in files if entry.mode == "unified_diff")
    if lines > MAX_DIFF_LINES:
        hint = f"Send at most {MAX_DIFF_LINES} lines of diffs a request, or use replace_full."
        return [], [Invalid("", "TOO_MANY_LINES", hint)]
    invalid = _check_paths(files)
    patches: list[Patch | None] = []
    for entry in files:
        patches.append(None)
        if entry.mode in WITHOUT_TEXT:
            continue
        try:
            _check_text(entry.content)
            if entry.mode == "unified_diff":
                patches[-1] = parse_patch(
                    entry.content, normal_path(entry.path) or entry.path, root
                )
        except Unusable as error:
            invalid.append(Invalid(entry.path, error.code, error.hint, error.line))
    return patches, invalid


def _check_paths(files: Sequence[FileChange]) -> list[Invalid]:
    invalid = []
    seen: set[str] = set()
    moved = {normal_path(path) for one in files if one.mode == "move" for path in paths_of(one)}
    for given in (path for entry in files for path in paths_of(entry)):
        path = normal_path(given)
        if path is None:
            hint = "Give a path inside the repository, relative, without '..' and outside '.git'."
            invalid.append(Invalid(given, "UNSAFE_PATH", hint))
        elif path in seen:
            hint = "This path occurs twice. Put all its hunks into one entry."
            if path in moved:
                hint = (
                    "This path occurs twice. A move is not joined with another change of its "
                    "files, nor chained or swapped: take a call for each step."
                )
            invalid.append(Invalid(given, "DUPLICATE_PATH", hint))
        else:
            seen.add(path)
    for path in sorted(seen):
        parts = path.split("/")
        if any("/".join(parts[:n]) in seen for n in range(1, len(parts))):
            hint = "Another entry uses a part of this path as a file; here it would be a directory."
            invalid.append(Invalid(path, "PATH_CLASH", hint))
    return invalid


def _check_text(content: str) -> None:
    if "\0" in content:
        line = content.count("\n", 0, content.index("\0")) + 1
        raise Unusable(
            "BAD_TEXT", "The content holds a NUL character; only text can be sent.", line
        )
    try:
        content.encode()
    except UnicodeEncodeError as error:
        line = content.count("\n", 0, error.start) + 1
        hint = "The content holds half of a surrogate pair, which is not text."
        raise Unusable("BAD_TEXT", hint, line) from None
