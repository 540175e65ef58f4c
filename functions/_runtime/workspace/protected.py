"""Paths whose change is a deployment by another door, so an agent must not write them alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions._runtime.workspace.globs import Glob
from functions._runtime.workspace.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Iterable

PROTECTED = (
    ".github/workflows/**",
    "**/buildspec*.yml",
    "**/buildspec*.yaml",
    "CODEOWNERS",
    ".github/CODEOWNERS",
    "docs/CODEOWNERS",
)
"""Protected in every workspace; a workspace may add its own."""


def protected(path: str, more: Iterable[str] = ()) -> bool:
    """Whether `path` matches a built-in protected glob or one of `more`, in whatever spelling.

    Case, normal form, ignorable code points and trailing dots make no difference.
    """
    folded = fold_path(path)
    return any(Glob.of(fold_path(text)).matches(folded) for text in (*PROTECTED, *more))
