"""The demo is the main job: its own lines say whether it was done."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from toolgate.project import ROOT

STEPS = [
    "list",
    "read",
    "dry-run",
    "apply",
    "replay",
    "key-conflict",
    "stale-conflict",
    "repaired",
    "forbidden-path",
    "validation",
    "concurrent",
    "killed",
    "release-asked",
    "decided-by-carol",
    "release-denied",
    "release-notes",
    "release-asked-again",
    "decided-by-alice",
    "decided-by-bob",
    "release-published",
    "release-replay",
    "pull",
]
COMMITTING = {"apply", "repaired", "concurrent", "killed", "kill-missed"}


@pytest.fixture(scope="module")
def steps(local_cloud):
    done = subprocess.run(  # noqa: PLW1510  (its errors are shown below)
        [sys.executable, "-m", "toolgate", "demo", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=420,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.local
def test_every_step_is_told_in_order(steps):
    assert [step["step"] for step in steps if step["step"] != "kill-missed"] == STEPS
    assert all({"step", "tool", "event", "result", "commits"} <= step.keys() for step in steps)


@pytest.mark.local
def test_each_change_is_one_commit_and_nothing_else_is_any(steps):
    before = steps[0]["commits"]
    for step in steps:
        assert step["commits"] - before == (step["step"] in COMMITTING), step["step"]
        before = step["commits"]


@pytest.mark.local
def test_each_answer_is_the_typed_one(steps):
    results = {step["step"]: step["result"] for step in steps}
    codes = {id_: r["error"]["code"] for id_, r in results.items() if not r["ok"]}
    assert codes == {
        "key-conflict": "IDEMPOTENCY_CONFLICT",
        "stale-conflict": "CONFLICT",
        "forbidden-path": "FORBIDDEN_PATH",
        "validation": "VALIDATION",
        "release-asked": "APPROVAL_PENDING",
        "release-denied": "APPROVAL_DENIED",
        "release-asked-again": "APPROVAL_PENDING",
    }
    assert results["replay"]["skippedAsDuplicate"] is True
    assert results["stale-conflict"]["error"]["details"]["conflicts"][0]["closest"]["firstDiff"]
    assert results["validation"]["error"]["details"]["issues"][0]["path"] == "/files/0/mode"


@pytest.mark.local
def test_the_race_and_the_kill_were_real(steps):
    by_id = {step["step"]: step for step in steps}
    assert by_id["concurrent"]["callers"] == 16
    assert by_id["concurrent"]["effects"] == 1
    assert by_id["concurrent"]["duplicates"] == 15
    assert by_id["killed"]["recordAtKill"] == "INPROGRESS"
    assert by_id["killed"]["attempts"] > 1
    assert "exactly once" in by_id["pull"]["diff"]


@pytest.mark.local
def test_a_release_waits_for_people_and_happens_once(steps):
    results = {step["step"]: step["result"] for step in steps}
    denied = results["release-denied"]["error"]["details"]
    assert denied["reason"] == "not without release notes"
    assert results["decided-by-alice"]["state"] == "pending"
    assert results["decided-by-bob"]["state"] == "approved"
    published, replay = results["release-published"], results["release-replay"]
    assert published["skippedAsDuplicate"] is False
    assert replay == {**published, "skippedAsDuplicate": True}
    first, second = (results[f"release-asked{again}"] for again in ("", "-again"))
    ids = {answer["error"]["details"]["approvalId"] for answer in (first, second)}
    assert len(ids) == 2
