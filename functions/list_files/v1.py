"""list_files v1: one page of the paths that fit a glob."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.list_files.v1 import SPEC, Input, Output
from functions._runtime.cursor import Paging
from functions._runtime.tool import tool
from functions.list_files.page import fill

if TYPE_CHECKING:
    from functions._runtime.call import Call


@tool(SPEC)
def handler(request: Input, call: Call) -> Output:
    """List the newest revision, the one asked for, or the one that the cursor names."""
    paging = Paging("list_files", {"glob": request.glob})
    start = paging.start(request.cursor, request.revision)
    snapshot = call.workspace(request.repo_root).at(start.revision)
    page = fill(snapshot.walk(request.glob, after=start.after), request.limit)
    return Output(
        files=page.files,
        revision=snapshot.revision,
        next_cursor=paging.cursor(snapshot.revision, page.last) if page.more else None,
    )
