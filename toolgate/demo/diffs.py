"""What a careful model would write: a diff of what it read, its correction from a report."""

from __future__ import annotations

import difflib
from typing import Any


def unified(path: str, before: str, after: str, context: int = 3) -> str:
    """A unified diff of one file, with so many lines of context."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{path}",
        f"b/{path}",
        n=context,
    )
    return "".join(lines)


def corrected(path: str, details: dict[str, Any]) -> str:
    """The diff that a CONFLICT's details suggest, from nothing but these details."""
    (conflict,) = details["conflicts"]
    return f"--- a/{path}\n+++ b/{path}\n{conflict['suggestedHunk']}"
