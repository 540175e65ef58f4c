"""apply_patch v2: every change of the request happens, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.apply_patch.v2 import SPEC, Action, FileStat, Input, Output
from functions._runtime.tool import tool
from functions._runtime.workspace import Edit
from functions.apply_patch.editing import file_writes, planned, refuse_unusable
from functions.apply_patch.engine import COUNT_STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from functions._runtime.call import Call
    from functions._runtime.workspace import Snapshot
    from functions.apply_patch.engine import Write

ACTIONS: Mapping[str, Action] = {
    "create": "created",
    "modify": "modified",
    "delete": "deleted",
    "move": "moved",
    "unchanged": "unchanged",
}
"""The engine's verbs as the contract has them."""


@tool(SPEC, precheck=refuse_unusable)
def handler(request: Input, call: Call) -> Output:
    """Plan against the newest revision, or only against the expected one, and commit."""

    def edit(snapshot: Snapshot) -> Edit[Output]:
        plan = planned(request, snapshot, count_steps=COUNT_STEPS)
        files = [_stat(write) for write in plan]
        return Edit(
            file_writes(plan, snapshot),
            lambda revision: Output(files=files, revision=revision),
            f"apply_patch: {', '.join(write.path for write in plan)[:200]}",
        )

    workspace = call.workspace(request.repo_root)
    return workspace.change(edit, expected=request.expected_revision)


def _stat(write: Write) -> FileStat:
    return FileStat(
        path=write.path,
        action=ACTIONS[write.action],
        lines_added=write.lines.added,
        lines_removed=write.lines.removed,
    )
