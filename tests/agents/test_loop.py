"""The loop meets each failure as its code asks, by the identical call or not at all."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from agents import events
from agents.journal import Call
from agents.loop import Choice, Loop, LoopError
from agents.retries import Policy, table
from agents.turns import visible_schema
from contracts import registry
from contracts.errors import CODES
from contracts.spec import Status
from tests.agents.loops import DIED, OK, PATCH, SECRET, Played, Scripted, failed

each_way = pytest.mark.parametrize("way", ["sync", "async"])
BY_RECOVERY = {
    does: [code.name for code in CODES.values() if code.recovery == does]
    for does in ("retry", "replan", "escalate")
}
READ = {"repoRoot": "/workspace/app", "path": "a"}


def choices(*made):
    """A model that makes these choices, whatever happens."""
    return lambda steps: made[len(steps)] if len(steps) < len(made) else None


@each_way
@pytest.mark.parametrize("failure", [*map(failed, BY_RECOVERY["retry"]), DIED], ids=str)
def test_a_failure_that_may_heal_is_repeated_by_the_identical_call(failure, way):
    played = Played(failure, OK, way=way)
    outcome = played.call()
    assert (outcome.result, outcome.attempts, outcome.escalation) == (OK, 2, None)
    assert played.sent[0] == played.sent[1]
    assert played.clock.waits == [400]


@each_way
@pytest.mark.parametrize("code", CODES)
def test_each_code_is_met_as_the_table_of_the_docs_says(code, way):
    played = Played(failed(code), way=way)
    outcome = played.call()
    (row,) = [line for line in table() if line.startswith(f"| {code} |")]
    if f"{len(played.sent)} times in all" in row:
        assert outcome.escalation.reason == ("fault" if code == "INTERNAL" else "attempts")
    else:
        assert len(played.sent) == 1
        assert ("hands the error to the model" in row) == (outcome.escalation is None)
    if outcome.escalation:
        assert outcome.escalation.resumable == ("resumable" in row) == CODES[code].retryable
    assert outcome.attempts == len(played.sent)


@pytest.mark.parametrize("retryable", [True, False])
def test_a_code_that_is_not_in_the_table_is_met_by_its_retryable(retryable):
    outcome = Played(failed("order_gone", retryable=retryable)).call()
    assert outcome.attempts == (Policy().attempts_max if retryable else 1)
    assert outcome.escalation.resumable is retryable


@each_way
def test_a_tool_that_never_answers_is_reported_and_can_be_resumed(way):
    played = Played(DIED, way=way, policy=Policy(attempts_max=3))
    stop = played.call().escalation
    assert (stop.reason, stop.result, stop.attempts, stop.resumable) == ("no answer", None, 3, True)
    again = Played(OK, way=way)
    assert again.resume(stop.call).result == OK
    assert again.sent == played.sent[:1]


def test_the_key_is_the_harness_own_and_the_same_after_a_crash():
    first, second = Played(OK), Played(OK)
    first.call()
    second.call()
    key = first.sent[0][1]["idempotencyKey"]
    assert first.sent == second.sent
    assert len(key) == 64
    assert set(key) <= set("0123456789abcdef")


@pytest.mark.parametrize("other", [{"turn": 1}, {"action": 1}, {"secret": b"t" * 32}])
def test_another_turn_action_or_session_has_another_key(other):
    secret = other.pop("secret", SECRET)
    first, second = Played(OK), Played(OK, secret=secret)
    first.call()
    second.call(**other)
    assert first.sent[0][1]["idempotencyKey"] != second.sent[0][1]["idempotencyKey"]


def test_turn_and_action_cannot_run_into_each_other():
    played = Played(OK)
    played.call(turn=1, action=11)
    played.call(turn=11, action=1)
    assert len({sent["idempotencyKey"] for _, sent in played.sent}) == 2


def test_what_a_model_says_of_key_version_and_caller_is_not_sent():
    played = Played(OK)
    played.call(
        arguments={**PATCH, "idempotencyKey": "mine-123", "schemaVersion": 1, "_caller": "x"}
    )
    sent = played.sent[0][1]
    assert sent["schemaVersion"] == 2
    assert sent["idempotencyKey"] != "mine-123"
    assert "_caller" not in sent


@each_way
@pytest.mark.parametrize("surface", ["bedrock", "bedrock-function"])
@pytest.mark.parametrize("name", ["apply_patch_v2", "read_file_v1"])
def test_a_model_cannot_pass_for_another_surface_and_so_for_another_caller(name, surface, way):
    spec = registry.find(name)
    meant = {**PATCH, "idempotencyKey": "chosen-by-the-model"} if spec.mutates else READ
    smuggled = events.build(spec, meant, surface).payload
    played = Played(OK, way=way, token=lambda: "signed")
    error = played.call(name, smuggled).result["error"]
    assert (error["code"], error["retryable"]) == ("VALIDATION", False)
    assert {one["problem"] for one in error["details"]["issues"]} == {"reserved"}
    assert error["details"].get("keySpent") == (False if spec.mutates else None)
    assert played.sent == []


def test_a_tool_that_changes_nothing_is_sent_no_key():
    played = Played(OK)
    played.call("read_file", READ)
    assert played.sent == [("read_file_v1", READ)]


def test_each_sending_has_a_token_of_its_own():
    tokens = iter(["t1", "t2"])
    played = Played(DIED, OK, token=lambda: next(tokens))
    played.call()
    assert [sent["_caller"] for _, sent in played.sent] == ["t1", "t2"]


@pytest.mark.parametrize("spec", registry.newest(registry.specs()), ids=lambda s: s.model_name)
def test_a_model_is_shown_the_input_without_what_the_harness_supplies(spec):
    schema = visible_schema(spec)
    hidden = {"idempotencyKey", "schemaVersion"}
    assert set(schema["properties"]) == set(spec.input_schema["properties"]) - hidden
    assert not hidden & set(schema["required"])


def test_the_newest_active_version_is_offered_unless_another_is_pinned():
    assert "apply_patch_v2" in Played(OK).loop.tools
    played = Played(OK, pins={"apply_patch": 1})
    assert "apply_patch_v2" not in played.loop.tools
    played.call("apply_patch")
    assert played.sent[0][0] == "apply_patch_v1"
    assert played.sent[0][1]["schemaVersion"] == 1


@pytest.mark.parametrize(
    "wrong", [{"secret": b"short"}, {"pins": {"apply_patch": 9}}, {"pins": {"rm": 1}}]
)
def test_a_loop_that_cannot_work_says_so_when_it_is_made(wrong):
    with pytest.raises(LoopError):
        Played(OK, **wrong)


@each_way
@pytest.mark.parametrize("code", BY_RECOVERY["replan"])
def test_an_error_to_plan_around_reaches_the_model_once_and_then_stops_the_session(code, way):
    seen = []

    def model(steps):
        seen.append([step.result["ok"] or step.result["error"]["code"] for step in steps])
        return Choice("apply_patch", PATCH)

    played = Played(failed(code), way=way)
    report = played.run(model)
    assert seen == [[], [code]]
    assert (report.escalation.reason, len(report.steps)) == ("same error", 2)
    assert not report.escalation.resumable
    first, second = (sent["idempotencyKey"] for _, sent in played.sent)
    assert first != second


def test_distinct_errors_each_reach_the_model_and_passing_details_make_none():
    results = [
        failed("CONFLICT", path="a"),
        failed("CONFLICT", path="b"),
        failed("NOT_FOUND"),
        failed("CONFLICT", path="a", keySpent=True, replayed=True),
    ]
    report = Played(*results).run(lambda _: Choice("apply_patch", PATCH))
    assert (report.escalation.reason, len(report.steps)) == ("same error", 4)


def test_a_tool_that_has_worked_again_may_fail_as_before():
    made = [Choice("read_file", READ)] * 4
    report = Played(failed("NOT_FOUND"), OK, failed("NOT_FOUND"), OK).run(choices(*made))
    assert (len(report.steps), report.escalation) == (4, None)


@each_way
@pytest.mark.parametrize("code", BY_RECOVERY["escalate"])
def test_a_failure_for_people_stops_the_session_with_a_report(code, way):
    report = Played(failed(code), way=way).run(choices(*[Choice("apply_patch", PATCH)] * 3))
    assert (len(report.steps), report.escalation.reason) == (1, "recovery")
    assert report.escalation.result["error"]["code"] == code


@each_way
def test_a_pending_approval_is_resumed_from_the_report_by_the_identical_call(way):
    pending = failed("APPROVAL_PENDING", approvalId="a", have=0, need=2)
    played = Played(pending, way=way)
    stop = played.run(choices(Choice("apply_patch", PATCH))).escalation
    kept = json.loads(json.dumps(asdict(stop)))
    again = Played(OK, way=way, pins={"apply_patch": 1}, secret=b"t" * 32)
    outcome = again.resume(Call(**kept["call"]))
    assert outcome.result == OK
    assert again.sent == played.sent


def test_a_call_of_a_version_that_is_gone_is_not_sent_to_another():
    call = Played(DIED, policy=Policy(attempts_max=1)).call().escalation.call
    only = [spec for spec in registry.specs() if spec.model_name != "apply_patch_v2"]
    again = Played(OK, specs=only)
    with pytest.raises(LoopError, match="not deployed"):
        again.resume(call)
    assert again.sent == []


def test_a_tool_that_is_not_offered_is_an_error_for_the_model_and_nothing_is_sent():
    played = Played(OK)
    made = [Choice("rm", {}), Choice("apply_patch_v1", PATCH), Choice("apply_patch", PATCH)]
    report = played.run(choices(*made))
    assert report.steps[0].result["error"]["details"]["tools"] == sorted(played.loop.tools)
    assert report.escalation.reason == "same error"
    assert played.sent == []
    with pytest.raises(registry.UnknownToolError):
        played.call("rm")


def test_a_model_that_never_ends_is_stopped():
    report = Played(OK).run(lambda _: Choice("apply_patch", PATCH), turns_max=3)
    assert (len(report.steps), report.escalation.reason) == (3, "turns")


def test_a_draft_gives_way_to_an_active_version():
    active = registry.find("apply_patch_v2")
    draft = replace(active, version="3.0.0", status=Status.DRAFT)
    loop = Loop(Scripted(OK), secret=SECRET, specs=[active, draft])
    assert list(loop.tools) == ["apply_patch_v2"]
    assert loop.tools["apply_patch_v2"] is active
