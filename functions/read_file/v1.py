"""read_file v1: the lines of one file, as many as an answer should hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.errors import ConflictError, NotFoundError
from contracts.read_file.v1 import SPEC, Input, Output
from functions._runtime.tool import tool
from functions.read_file.lines import decode, excerpt

if TYPE_CHECKING:
    from functions._runtime.call import Call


@tool(SPEC)
def handler(request: Input, call: Call) -> Output:
    """Read at the newest revision or the one asked for; links are never followed."""
    snapshot = call.workspace(request.repo_root).at(request.revision)
    entry = snapshot.read_file(request.path)
    if entry.kind in {"directory", "submodule"}:
        raise ConflictError(f"the path is a {entry.kind}", code="IS_A_DIRECTORY", path=request.path)
    if not entry.is_file:
        raise NotFoundError("there is no such file; list_files shows what there is")
    text, encoding = decode(entry.data)
    part = excerpt(text, request.first_line, request.first_column, request.max_lines)
    return Output(
        text=part.text,
        revision=snapshot.revision,
        first_line=request.first_line,
        line_count=part.line_count,
        byte_count=entry.size,
        encoding=encoding,
        next_line=part.next_line,
        next_column=part.next_column,
        truncated=part.truncated,
    )
