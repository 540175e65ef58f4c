"""list_files v1: one page of the paths that fit a glob."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from contracts.list_files.v1 import SPEC, Entry, Input, Output
from functions._runtime.cursor import Cursor
from functions._runtime.tool import tool

if TYPE_CHECKING:
    from functions._runtime.call import Call


@tool(SPEC)
def handler(request: Input, call: Call) -> Output:
    """List the newest revision, or go on in the one that the cursor names."""
    workspace = call.workspace(request.repo_root)
    cursor = Cursor.read(request.cursor)
    snapshot = workspace.at(cursor.revision) if cursor else workspace.snapshot()
    found = snapshot.walk(request.glob, after=cursor.after if cursor else b"")
    page = list(islice(found, request.limit + 1))
    more = len(page) > request.limit
    page = page[: request.limit]
    return Output(
        files=[
            Entry(path=path.decode("utf-8", "backslashreplace"), kind=kind) for path, kind in page
        ],
        revision=snapshot.revision,
        next_cursor=Cursor(snapshot.revision, page[-1][0]).write() if more else None,
    )
