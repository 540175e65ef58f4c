"""apply_patch as a function on a directory: pushed, patched by the real handler, written back.

`apply` is what the patch cases in `tests/cases/patches` run against. Everything between is real:
the pipeline, the workspace and the idempotency record, on moto.
"""

from __future__ import annotations

import itertools
import os
import time
from contextlib import contextmanager
from pathlib import Path

from moto import mock_aws

from agents import events
from agents.targets import InProcessTarget
from contracts import registry
from functions._runtime import aws
from functions._runtime.workspace import Stores
from tests import conftest
from toolgate import workspace

CONFLICTS = {"CONFLICT", "NOT_FOUND"}
_numbers = itertools.count(1)


def apply(repo_root: str, files: list[dict], dry_run: bool) -> dict:
    """Patch a directory: {"outcome": applied | conflict | invalid, "error": …}.

    The tree is written back, byte for byte and with its links, if the patch was applied for real;
    else nothing changes.
    """
    with _stage() as stores:
        name, number = f"/cases/{Path(repo_root).name}", next(_numbers)
        pushed = workspace.import_tree(
            stores, Path(repo_root), f"{name}/{number}", by="tests", now_ms=_now_ms()
        )
        # v1's path pattern refuses spaces and unicode; what agents are given takes them.
        spec = registry.find("apply_patch_v2")
        arguments = {
            "schemaVersion": spec.major,
            "idempotencyKey": f"case-{os.getpid()}-{number}-{_now_ms()}",
            "repoRoot": f"{name}/{number}",
            "files": files,
            "dryRun": dry_run,
        }
        event = events.build(spec, arguments, "direct")
        result = events.unwrap(InProcessTarget().send(spec, event))
        remote = workspace.Remote(stores, "default", f"{name}/{number}")
        if not result["ok"] or dry_run:
            assert remote.head().revision == pushed.revision
        if result["ok"]:
            if not dry_run:
                workspace.export_tree(remote.snapshot(remote.head()), Path(repo_root))
            return {"outcome": "applied", "error": None}
    error = result["error"]
    details = error.get("details", {})
    return {
        "outcome": "conflict" if error["code"] in CONFLICTS else "invalid",
        "error": error,
        "code": error["code"],
        "codes": _codes(error),
        "conflicts": details.get("conflicts", []),
    }


def _codes(error: dict) -> list[str]:
    details = error.get("details", {})
    issues = [one.get("expected") for one in details.get("issues", [])]
    inner = [one["code"] for one in issues if isinstance(one, dict) and "code" in one]
    return [error["code"], *filter(None, [details.get("code"), details.get("reason")]), *inner]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@contextmanager
def _stage():
    """Fresh tables in the tests' stage: the one that is up already, or one of this process."""
    if os.environ.get("TOOLGATE_STAGE") != conftest.STAGE["TOOLGATE_STAGE"]:
        _own_stage()
    conftest.create_tables()
    try:
        yield Stores(aws.dynamodb(), aws.s3(), conftest.WORKSPACE_TABLE, conftest.WORKSPACE_BUCKET)
    finally:
        # moto copies whole tables for every transaction: they are kept small.
        conftest.delete_tables()


def _own_stage() -> None:
    """moto and the stage's environment for the rest of this process, outside of pytest."""
    conftest.become_stage()
    mock_aws().start()
    conftest.create_buckets()
