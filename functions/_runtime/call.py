"""What a handler is given besides its arguments: who calls, how long is left, the workspace."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from functions._runtime import aws
from functions._runtime.workspace import ObjectCache, Protection, Stores, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.spec import ToolSpec
    from functions._runtime.caller import Caller
    from functions._runtime.deadline import Deadline
    from functions._runtime.effect import Effect
    from functions._runtime.settings import Settings


@dataclass(frozen=True)
class Call:
    """One call in progress. `effect` is None where nothing may change: reads and dry runs."""

    spec: ToolSpec
    caller: Caller
    settings: Settings
    deadline: Deadline
    now_ms: Callable[[], int]
    dry_run: bool = False
    effect: Effect | None = None
    protection: Protection = field(default_factory=Protection)
    """What the call may do about protected paths."""

    def workspace(self, repo_root: str) -> Workspace:
        """The caller's tenant's workspace of that name; whether it exists shows on first use."""
        stores = Stores(
            dynamodb=aws.dynamodb(),
            s3=aws.s3(),
            table=self.settings.workspace_table,
            bucket=self.settings.workspace_bucket,
        )
        return Workspace(
            stores,
            tenant=self.caller.tenant,
            repo_root=repo_root,
            deadline=self.deadline,
            now_ms=self.now_ms,
            by=self.caller.name,
            tool=self.spec.key,
            effect=self.effect,
            cache=_objects(),
            protection=self.protection,
        )


@cache
def _objects() -> ObjectCache:
    """Objects that this process has read; they never change, so they are never old."""
    return ObjectCache()


def forget() -> None:
    """Drop what this process has read; for tests."""
    _objects.cache_clear()
