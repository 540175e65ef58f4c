"""Paths whose change is a deployment by another door, so an agent must not write them alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contracts.errors import ForbiddenPathError, InvalidArgumentsError
from contracts.issues import issue
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


_SHORT = (
    (re.compile(r"github~[0-9]+"), ".github"),
    (re.compile(r"workfl~[0-9]+"), "workflows"),
    (re.compile(r"builds~[0-9]+\.yml"), "buildspec.yml"),
    (re.compile(r"builds~[0-9]+\.yam"), "buildspec.yaml"),
    (re.compile(r"codeow~[0-9]+"), "codeowners"),
)
"""What some file system makes of the names above where it wants eight letters, and what they are.

A name of the workspace's own that is written so is protected with them.
"""


def protected(path: str, more: Iterable[str] = ()) -> bool:
    """Whether `path` matches a built-in protected glob or one of `more`, in whatever spelling.

    Case, normal form, ignorable code points, trailing dots, streams and short names make no
    difference.
    """
    folded = "/".join(_long(part) for part in fold_path(path).split("/"))
    return any(Glob.of(fold_path(text)).matches(folded) for text in (*PROTECTED, *more))


@dataclass(frozen=True)
class Protection:
    """What a call may do about protected paths: nothing, or ask people if it is `liftable`."""

    liftable: bool = False

    def concerns(
        self, paths: Iterable[str], own: Iterable[str] = (), *, settled: bool = False
    ) -> bool:
        """Whether one of the paths is protected, so that people must agree to the call.

        `own` are the workspace's globs; without them the built-in ones alone decide. `settled`:
        what people look at is what will be written, whatever the workspace holds by then.
        Raises ForbiddenPathError where nobody can be asked, InvalidArgumentsError for a call that
        is not settled.
        """
        own = tuple(own)
        found = next((path for path in paths if protected(path, own)), None)
        if found is None:
            return False
        if not self.liftable:
            why = "in this workspace" if own else "changing it would deploy"
            raise ForbiddenPathError(
                f"the path is protected: {why}", path=found, reason="PROTECTED"
            )
        if not settled:
            problem = "is needed where a path is protected: people agree to what they see"
            raise InvalidArgumentsError(
                f"/expectedRevision: {problem}",
                issues=[issue("/expectedRevision", problem, {"code": "PROTECTED"})],
                path=found,
            )
        return True


NEVER = Protection()
"""Protected paths stay as they are."""


def _long(name: str) -> str:
    return next((whole for short, whole in _SHORT if short.fullmatch(name)), name)
