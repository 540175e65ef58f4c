"""An operator's way out: stuck records are found, shown and resolved, never edited blindly."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from functions._runtime import aws, tool
from tests.functions.counter import SPEC, args, count, make
from toolgate import calls_commands
from toolgate.calls import AUDIT, UNKNOWN, Calls
from toolgate.errors import CommandError

KEY = args()["idempotencyKey"]
NOW = 10**13
"""Far in the future: every lease is over by then."""


class Crash(BaseException):
    """The process died."""


@pytest.fixture
def calls(aws_cloud):
    return Calls(aws.dynamodb(), "idempotency")


@pytest.fixture
def crashed(calls):
    """A call whose process died before its commit."""

    def crash():
        raise Crash

    with pytest.raises(Crash):
        make(before_commit=crash)(args(), None)
    return calls.find(SPEC, "default", KEY)


@pytest.fixture
def unknown(calls):
    """A call whose effect nobody can tell of."""
    from contracts.errors import OutcomeUnknownError

    def lost():
        raise OutcomeUnknownError("nobody can tell")

    make(start=lost)(args(), None)
    return calls.find(SPEC, "default", KEY)


def audits():
    items = aws.dynamodb().scan(TableName="idempotency")["Items"]
    return [item for item in items if AUDIT in item["id"]["S"]]


def test_only_stuck_calls_are_listed(calls, crashed):
    make()(args(idempotencyKey="another-key"), None)
    assert [record.id for record in calls.stuck(NOW)] == [crashed.id]
    assert crashed.stuck_because(NOW) == "its attempt died"
    assert crashed.stuck_because(crashed.lease_ms - 1) is None


def test_a_call_that_died_may_be_let_run_again(calls, crashed):
    assert make()(args(), None)["error"]["code"] == "IN_PROGRESS"
    calls.resolve(SPEC, crashed, "not-done", reason="I looked", by="ada", now_ms=NOW)
    assert make()(args(add=2), None)["error"]["code"] == "IDEMPOTENCY_CONFLICT"
    assert make()(args(), None)["skippedAsDuplicate"] is False
    assert count() == 1
    (audit,) = audits()
    assert (audit["by"]["S"], audit["reason"]["S"], audit["verdict"]["S"]) == (
        "ada",
        "I looked",
        "not-done",
    )


def test_an_open_record_cannot_be_called_done(calls, crashed):
    with pytest.raises(CommandError, match="open record means not done"):
        calls.resolve(SPEC, crashed, "done", reason="r", by="ada", now_ms=NOW, result={"ok": True})
    assert not audits()


def test_an_unknown_outcome_is_answered_by_a_person(calls, unknown):
    assert unknown.answer["error"]["code"] == UNKNOWN
    answer = {"ok": True, "schemaVersion": 1, "count": 7, "skippedAsDuplicate": False}
    calls.resolve(SPEC, unknown, "done", reason="seen", by="ada", now_ms=NOW, result=answer)
    assert make()(args(), None) == {**answer, "skippedAsDuplicate": True}
    assert count() == 0
    assert json.loads(audits()[0]["was"]["S"])["answer"]["error"]["code"] == UNKNOWN


def test_an_unknown_outcome_that_did_not_happen_runs_again(calls, unknown):
    calls.resolve(SPEC, unknown, "not-done", reason="seen", by="ada", now_ms=NOW)
    assert make()(args(), None)["skippedAsDuplicate"] is False
    assert count() == 1


@pytest.mark.parametrize(
    "result", [None, {"ok": True}, {"ok": True, "schemaVersion": 1, "count": -1}]
)
def test_an_answer_must_keep_to_its_contract(calls, unknown, result):
    with pytest.raises(CommandError):
        calls.resolve(SPEC, unknown, "done", reason="r", by="a", now_ms=NOW, result=result)
    assert not audits()


def test_a_record_that_changed_meanwhile_is_left_alone(calls, crashed, monkeypatch):
    monkeypatch.setattr(tool, "now_ms", lambda: NOW)
    done = make()(args(), None)
    assert done["ok"] is True
    with pytest.raises(CommandError, match="changed meanwhile"):
        calls.resolve(SPEC, crashed, "not-done", reason="late", by="ada", now_ms=NOW)
    assert make()(args(), None)["skippedAsDuplicate"] is True
    assert not audits()


def test_a_call_that_is_done_has_nothing_to_resolve(calls):
    make()(args(), None)
    record = calls.find(SPEC, "default", KEY)
    with pytest.raises(CommandError, match="not stuck"):
        calls.resolve(SPEC, record, "not-done", reason="r", by="ada", now_ms=NOW)


def test_the_commands_list_show_and_resolve(crashed, monkeypatch):
    found = SimpleNamespace(find=lambda _name: SPEC)
    monkeypatch.setattr(calls_commands, "registry", found)
    outputs = {"IdempotencyTable": "idempotency"}
    monkeypatch.setattr(calls_commands, "client_and_outputs", lambda *_: (aws.dynamodb(), outputs))
    monkeypatch.setattr(calls_commands, "_now_ms", lambda: NOW)
    run = CliRunner().invoke
    listed = run(calls_commands.app, ["list"])
    assert "its attempt died" in listed.stdout
    shown = run(calls_commands.app, ["show", KEY, "--tool", "demo.count", "--json"])
    assert json.loads(shown.stdout)["status"] == "INPROGRESS"
    resolved = run(
        calls_commands.app,
        ["resolve", KEY, "--tool", "demo.count", "--as", "not-done", "--reason", "I looked"],
    )
    assert resolved.exit_code == 0, resolved.output
    assert len(audits()) == 1
