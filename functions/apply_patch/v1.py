"""apply_patch v1: every file of the request is changed, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.apply_patch.v1 import SPEC, Input, Output
from functions._runtime.tool import tool
from functions._runtime.workspace import Edit
from functions.apply_patch.editing import file_writes, planned, refuse_unusable

if TYPE_CHECKING:
    from functions._runtime.call import Call
    from functions._runtime.workspace import Snapshot


@tool(SPEC, precheck=refuse_unusable)
def handler(request: Input, call: Call) -> Output:
    """Plan against the newest revision and commit; on a moved head plan again."""

    def edit(snapshot: Snapshot) -> Edit[Output]:
        writes = file_writes(planned(request, snapshot), snapshot)
        paths = [write.path for write in writes]
        return Edit(
            writes,
            lambda _revision: Output(applied=paths),
            f"apply_patch: {', '.join(paths)[:200]}",
        )

    return call.workspace(request.repo_root).change(edit)
