"""write_file v1: one file of a workspace gets the text of the request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.write_file.v1 import SPEC, Input, Output
from functions._runtime.tool import tool
from functions._runtime.workspace import Edit, FileWrite
from functions.write_file.writing import refuse_existing, refuse_unusable

if TYPE_CHECKING:
    from functions._runtime.call import Call
    from functions._runtime.workspace import Snapshot


@tool(SPEC, precheck=refuse_unusable)
def handler(request: Input, call: Call) -> Output:
    """Write onto the newest revision; what is there stays unless it may be overwritten."""
    data = request.content.encode()

    def edit(snapshot: Snapshot) -> Edit[Output]:
        kind = snapshot.kind(request.path)
        if not request.overwrite:
            refuse_existing(request.path, kind)
        return Edit(
            [FileWrite(request.path, data)],
            lambda revision: Output(
                path=request.path,
                created=kind == "missing",
                byte_count=len(data),
                revision=revision,
            ),
            f"write_file: {request.path[:200]}",
            settled=True,
        )

    return call.workspace(request.repo_root).change(edit)
