"""release.publish v1: refused until a stage can give approvals; the whole effect is behind that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.errors import ForbiddenError
from contracts.release_publish.v1 import SPEC, Input, Output
from functions._runtime.tool import tool
from functions.release_publish.publishing import publish

if TYPE_CHECKING:
    from functions._runtime.call import Call
    from functions.release_publish.manifest import Approved


@tool(SPEC)
def handler(request: Input, call: Call) -> Output:
    """Publish the revision, at the price of its approval."""
    return publish(request, call, _unapproved)


def _unapproved() -> Approved:
    """Where the approval will be used up. There are none yet, so none is taken for granted."""
    raise ForbiddenError(
        "this tool needs approval, which this stage cannot give", reason="NO_APPROVALS"
    )
