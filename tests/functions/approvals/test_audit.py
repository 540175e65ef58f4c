"""The audit tells what happened, and that somebody has touched it."""

from __future__ import annotations

import json

import pytest

from functions._runtime import aws
from functions._runtime.approvals.chain import problems, unpublished
from tests.conftest import APPROVALS_BUCKET
from tests.functions.counter import count
from tests.people import ALICE, BOB, delete_row, edit_row, pending, rows


@pytest.fixture
def done(gated):
    """The id of an approval that was used."""
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.approve(approval_id)
    gated.call()
    assert count() == 1
    return approval_id


def audited(approval_id):
    status, body = ALICE.get(approval_id, "audit")
    assert status == 200, body
    return body


def found(approval_id):
    body = audited(approval_id)
    return problems(approval_id, body["events"], body["heads"])


def test_every_step_is_there_with_who_did_it_and_is_published(done):
    body = audited(done)
    steps = [(event["kind"], event["by"]) for event in body["events"]]
    assert steps == [
        ("requested", "dana"),
        ("approve", "alice"),
        ("approve", "bob"),
        ("consumed", "dana"),
    ]
    assert [head["n"] for head in body["heads"]] == [1, 2, 3, 4]
    assert problems(done, body["events"], body["heads"]) == []
    assert unpublished(body["events"], body["heads"]) == []
    assert body["events"][-1]["data"]["operation"].startswith("demo.gated@1#")


def test_the_use_is_written_with_the_effect_or_not_at_all(gated):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.approve(approval_id)

    def bang():
        raise RuntimeError("dead")

    gated.call(handler=gated.made(before_commit=bang))
    assert len(audited(approval_id)["events"]) == 3
    assert ALICE.show(approval_id)["state"] == "approved"


def edited(row, **changes):
    event = {**json.loads(row["event"]["S"]), **changes}
    edit_row({"pk": row["pk"], "sk": row["sk"]}, event={"S": json.dumps(event)})


def test_an_edited_event_shows(done):
    edited(rows("AUD", done)[1], by="mallory")
    assert found(done) == [
        "event 2 was edited: it is not what its hash is of",
        "event 3 does not follow from what stands before it",
        "event 2 is not the one that was published",
    ]


def test_an_event_that_was_rewritten_with_its_hash_shows(done):
    from functions._runtime.approvals.chain import read_event

    row = rows("AUD", done)[3]
    event = {**json.loads(row["event"]["S"]), "by": "mallory"}
    edited(row, by="mallory", hash=read_event(event).hash)
    assert found(done) == ["event 4 is not the one that was published"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_dropped_event_shows(done, place):
    delete_row(rows("AUD", done)[place])
    assert f"event {place + 1} is missing: event {place + 2} stands in its place" in found(done)


@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_a_cut_end_shows(done, kept):
    for row in rows("AUD", done)[kept:]:
        delete_row(row)
    gone = [f"event {n} was published and is gone" for n in range(kept + 1, 5)]
    assert [problem for problem in found(done) if "gone" in problem] == gone


def test_events_of_another_approval_show(done, gated):
    other = pending(gated.call(idempotencyKey="key-87654321"))
    body = audited(other)
    assert problems(done, body["events"], []) != []


@pytest.mark.parametrize("changes", [{"atMs": "7"}, {"n": 2.0}, {"note": "mallory"}])
def test_an_event_that_reads_the_same_and_is_not_shows(done, changes):
    row = rows("AUD", done)[1]
    if "atMs" in changes:
        changes = {"atMs": str(json.loads(row["event"]["S"])["atMs"])}
    edited(row, **changes)
    assert "event 2 was edited: it is not what its hash is of" in found(done)


def test_a_published_hash_that_cannot_be_read_is_told(done):
    key = f"heads/{done}/x.json"
    aws.s3().put_object(Bucket=APPROVALS_BUCKET, Key=key, Body=b"junk")
    assert found(done) == ["a published hash cannot be read"]


def test_an_event_that_cannot_be_read_shows(done):
    edited(rows("AUD", done)[2], atMs="soon")
    assert "event 3 cannot be read" in found(done)
