"""Every AWS call of a release, failing in every way, at any time: one release, one manifest."""

from __future__ import annotations

import json
import uuid
from hashlib import sha256
from unittest import mock

import pytest
from botocore.exceptions import ClientError

from functions._runtime import aws
from functions._runtime.workspace.objects import FILE
from tests.faults.campaign import LEASE_MS, faulty
from tests.faults.injector import Crash, Fault, Injector
from tests.functions.release.stages import Context, Moments, Stage
from tests.people import CAROL, Agent, code

FEW = {b"app.py": (FILE, b"x")}


def until_done(stage, injector):
    """Make the identical call until its answer is final, waiting out leases: every answer."""
    answers = []
    with faulty(injector):
        for _ in range(6):
            try:
                answers.append(stage.call())
            except Crash:
                answers.append(None)
            if answers[-1] and (answers[-1]["ok"] or not answers[-1]["error"]["retryable"]):
                return answers
            stage.forward_ms += LEASE_MS
    raise AssertionError(answers)


def clean_run(workspaces, bucket):
    injector, stage = Injector(), Stage(workspaces, bucket, FEW)
    stage.agreed()
    until_done(stage, injector)
    return injector.calls


def check_faults(workspaces, bucket, faults):
    calls = clean_run(workspaces, bucket)
    # The zip, the published hash of the use, the manifest; and last the record.
    assert calls.count("PutObject") == 3
    assert calls[-2:] == ["PutObject", "TransactWriteItems"]
    for number, operation in enumerate(calls):
        for fault in faults:
            stage = Stage(workspaces, bucket, FEW)
            stage.agreed()
            before = stage.writes()
            *failed, done = until_done(stage, Injector(number, fault))
            told = (number, operation, fault, failed, done)
            assert done["ok"] is True, told
            written = {k: n for k, n in stage.writes().items() if k not in before}
            assert written == {done["artifactKey"]: 1, done["manifestKey"]: 1}, told
            assert json.loads(stage.read(done["manifestKey"]))["artifact"] == {
                "bucket": bucket,
                "key": done["artifactKey"],
                "format": "zip",
                "sha256": sha256(stage.read(done["artifactKey"])).hexdigest(),
                "byteCount": done["byteCount"],
            }, told
            assert {code(a) for a in failed if a} <= {"UNAVAILABLE"}, told
            assert {a["error"]["details"]["keySpent"] for a in failed if a} <= {False}, told
            assert stage.call()["skippedAsDuplicate"] is True, told


def test_whatever_fails_after_its_write_there_is_one_release(stage):
    check_faults(stage.workspaces, stage.bucket, [Fault.CRASH_AFTER, Fault.TIMEOUT_DONE])


@pytest.mark.long
def test_whatever_fails_there_is_one_release(stage):
    check_faults(stage.workspaces, stage.bucket, list(Fault))


@pytest.mark.parametrize("moment", ["act", "then"])
def test_a_crash_at_the_approval_leaves_no_manifest_and_the_next_attempt_makes_it(stage, moment):
    def crash():
        raise Crash

    stage.agreed()
    stage.moments = Moments(**{moment: crash})
    with pytest.raises(Crash):
        stage.call()
    assert [key.split("/")[0] for key in stage.listed()] == ["staging"]
    stage.moments = Moments()
    assert code(stage.call()) == "IN_PROGRESS"
    stage.forward_ms = LEASE_MS
    assert stage.call()["ok"] is True
    assert set(stage.writes().values()) == {1}


def test_a_call_that_is_taken_over_needs_nothing_of_the_workspace_any_more(stage):
    def crash():
        raise Crash

    stage.agreed()
    stage.moments = Moments(then=crash)
    with pytest.raises(Crash):
        stage.call()
    pk = {"S": f"WS#default#{sha256(stage.root.encode()).hexdigest()[:32]}"}
    table = stage.workspaces.stores.table
    for row in aws.dynamodb().scan(TableName=table)["Items"]:
        if row["pk"] == pk:
            key = {"pk": row["pk"], "sk": row["sk"]}
            aws.dynamodb().delete_item(TableName=table, Key=key)
    stage.moments, stage.forward_ms = Moments(), LEASE_MS
    assert stage.call()["ok"] is True
    assert code(stage.call(idempotencyKey=uuid.uuid4().hex)) == "NOT_FOUND"


@pytest.mark.parametrize("other", [Agent("erin"), Agent("dana", name="release-bot")])
def test_a_release_that_lacks_its_manifest_is_not_ended_by_what_another_is_denied(stage, other):
    def crash():
        raise Crash

    stage.agreed()
    stage.moments = Moments(then=crash)
    with pytest.raises(Crash):
        stage.call()
    stage.moments, stage.forward_ms = Moments(), LEASE_MS
    CAROL.deny(stage.call(agent=other)["error"]["details"]["approvalId"])
    assert code(stage.call(agent=other)) == "APPROVAL_DENIED"
    answer = stage.call()
    assert (answer["ok"], answer["skippedAsDuplicate"]) == (True, False)
    assert stage.listed("releases/") == [answer["manifestKey"]]


def test_time_that_runs_out_after_the_approval_does_not_stop_the_release(stage):
    context = Context()
    stage.agreed()
    stage.moments = Moments(then=lambda: setattr(context, "left_ms", 1))
    assert stage.call(context)["ok"] is True


def test_time_that_runs_out_before_the_approval_uses_none_up(stage):
    context = Context()
    stage.agreed()
    spend = lambda **_: setattr(context, "left_ms", 1)  # noqa: E731
    events = aws.s3().meta.events
    events.register("before-call.s3.PutObject", spend)
    try:
        answer = stage.call(context)
    finally:
        events.unregister("before-call.s3.PutObject", spend)
    assert code(answer) == "TIMEOUT"
    assert stage.moments.used == 0
    assert stage.call()["ok"] is True


def test_a_record_that_others_are_at_is_unavailable_and_the_same_call_completes_it(stage):
    reasons = {"CancellationReasons": [{"Code": "TransactionConflict"}]}
    conflict = ClientError(
        {"Error": {"Code": "TransactionCanceledException"}, **reasons}, "TransactWriteItems"
    )
    stage.agreed()
    with mock.patch.object(aws.dynamodb(), "transact_write_items", side_effect=conflict):
        answer = stage.call()
    assert (code(answer), answer["error"]["details"]) == ("UNAVAILABLE", {"keySpent": False})
    assert stage.call()["ok"] is True
    assert set(stage.writes().values()) == {1}
