"""Callers of the deployed patch tool that do as they are told: wait as asked, then repeat.

Also what a workspace looks like behind the tool's back, to check what the callers were told.
"""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError

from agents import events
from agents.targets import InvocationError, invoke
from contracts import registry
from contracts.fingerprint import record_id
from functions._runtime.workspace.heads import WorkspaceName

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.workspaces import StoredWorkspaces

SPEC = registry.find("apply_patch_v1")
TENANT = "default"
WITHIN_S = 240
BACKOFF_S = (0.1, 2.0)
DIED = "died"


@dataclass
class Done:
    """A call that is answered for good, and why it was not before, in order."""

    answer: dict[str, Any]
    repeated: list[str] = field(default_factory=list)

    @property
    def first(self) -> bool:
        """Whether nothing says that this answer was given before."""
        return not self.answer.get("skippedAsDuplicate", False)

    @property
    def lost(self) -> bool:
        """Whether an earlier try may have been answered, and the answer did not arrive."""
        return DIED in self.repeated


def patch(root: str, key: str, *entries: tuple[str, str, str]) -> dict[str, Any]:
    """Arguments of a patch; entries are (path, mode, content)."""
    return {
        "schemaVersion": SPEC.major,
        "idempotencyKey": key,
        "repoRoot": root,
        "files": [{"path": path, "mode": mode, "content": text} for path, mode, text in entries],
    }


def diff(path: str, hunk: str) -> tuple[str, str, str]:
    """An entry that changes one place of a file."""
    return path, "unified_diff", f"--- a/{path}\n+++ b/{path}\n{hunk}"


def now_ms() -> int:
    """Milliseconds since the epoch, as the functions on this machine count them."""
    return time.time_ns() // 1_000_000


def record_of(key: str) -> str:
    """The id of a call's record, which is also the operation of its row in history."""
    return record_id(SPEC, TENANT, key)


@dataclass(frozen=True)
class Caller:
    """Sends to one function.

    `failed(why, arguments, began_ms)` hears of each try that was not the last.
    """

    client: Any
    function: str
    failed: Callable[[str, dict[str, Any], int], None] = lambda *_: None

    def send(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """One try. Raises InvocationError if the function died."""
        answer = invoke(self.client, self.function, events.build(SPEC, arguments, "direct"))
        return events.unwrap(answer)

    def until_done(self, arguments: dict[str, Any], within_s: float = WITHIN_S) -> Done:
        """The identical call, again and again until its answer is final."""
        ends = time.monotonic() + within_s
        repeated: list[str] = []
        while True:
            answer, why, began_ms = None, DIED, now_ms()
            try:
                answer = self.send(arguments)
                if answer["ok"] or not answer["error"]["retryable"]:
                    return Done(answer, repeated)
                why = answer["error"]["code"]
            except (InvocationError, BotoCoreError):
                pass  # nobody knows what it did: a reason to repeat
            self.failed(why, arguments, began_ms)
            repeated.append(why)
            assert time.monotonic() < ends, f"not done within {within_s} s: {repeated}"
            time.sleep(_wait_s(answer, len(repeated)))

    def all_at_once(self, calls: list[dict[str, Any]]) -> list[Done]:
        """Every call from a thread of its own, the first tries at the same moment."""
        barrier = Barrier(len(calls))

        def one(arguments: dict[str, Any]) -> Done:
            barrier.wait(WITHIN_S)
            return self.until_done(arguments)

        with ThreadPoolExecutor(len(calls)) as pool:
            return list(pool.map(one, calls))


def unreachable(workspaces: StoredWorkspaces, root: str) -> int:
    """Objects of no revision: what tries wrote that found the head moved and had to plan again."""
    store = workspaces.objects(root)
    reached: set[str] = set()
    todo = [row["tree"]["S"] for row in workspaces.log(root)]
    while todo:
        oid = todo.pop()
        if oid not in reached:
            reached.add(oid)
            for entry in store.tree(oid).values():
                if entry.kind == "directory":
                    todo.append(entry.oid)
                else:
                    reached.add(entry.oid)
    prefix = WorkspaceName(TENANT, root).prefix
    pages = workspaces.stores.s3.get_paginator("list_objects_v2").paginate(
        Bucket=workspaces.stores.bucket, Prefix=prefix
    )
    stored = {
        found["Key"].removeprefix(prefix).replace("/", "")
        for page in pages
        for found in page.get("Contents", [])
    }
    assert reached <= stored
    return len(stored - reached)


def _wait_s(answer: dict[str, Any] | None, tried: int) -> float:
    asked = answer["error"].get("details", {}).get("retryAfterMs") if answer else None
    if asked is not None:
        return asked / 1000
    low, high = BACKOFF_S
    return random.uniform(0.5, 1) * min(low * 2**tried, high)
