"""What write_file refuses: protected paths, content that is no text, files that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.errors import ConflictError, InvalidArgumentsError
from contracts.issues import issue
from functions._runtime.workspace import refuse_protected

if TYPE_CHECKING:
    from contracts.write_file.v1 import Input
    from functions._runtime.workspace import PathKind


def refuse_unusable(request: Input) -> None:
    """Refuse what no state of the workspace could make right.

    Raises ForbiddenPathError for a path that is protected everywhere, InvalidArgumentsError for
    content that would make the file binary.
    """
    refuse_protected([request.path])
    if "\0" in request.content:
        problem = "holds a NUL character; only text can be sent"
        found = issue("/content", problem, {"code": "BAD_TEXT"})
        raise InvalidArgumentsError(f"/content: {problem}", issues=[found])


def refuse_existing(path: str, kind: PathKind) -> None:
    """Raise ConflictError if there is a file; the workspace refuses all else that is no place."""
    if kind in {"file", "executable"}:
        raise ConflictError(
            "there is a file at this path: send overwrite true to replace it, or take another path",
            code="ALREADY_EXISTS",
            path=path,
        )
