"""release.publish v1: one revision becomes a release, once people have agreed to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.release_publish.v1 import SPEC, Input, Output
from functions._runtime.tool import tool
from functions.release_publish.publishing import publish, refuse_unreleasable

if TYPE_CHECKING:
    from functions._runtime.call import Call


@tool(SPEC, ready=refuse_unreleasable)
def handler(request: Input, call: Call) -> Output:
    """Publish the revision, at the price of its approval."""
    return publish(request, call)
