"""What write_file refuses: protected paths, content that is no text, files that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.errors import ConflictError, InvalidArgumentsError
from contracts.issues import issue

if TYPE_CHECKING:
    from contracts.write_file.v1 import Input
    from functions._runtime.call import Call
    from functions._runtime.workspace import PathKind


def refuse_unusable(request: Input, call: Call) -> None:
    """Refuse what no state of the workspace could make right.

    Raises what a path that is protected everywhere comes to, InvalidArgumentsError for content
    that would make the file binary.
    """
    call.protection.concerns([request.path], settled=True)
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
