"""The played agent: tools out of the template, exact events, retries that help and no others."""

from __future__ import annotations

import io
import json

import pytest

from agents import events
from agents.bedrock_local import BedrockAgent, TemplateError, operations
from agents.retries import Means, Policy
from agents.targets import InvocationError
from agents.turns import Choice
from contracts import registry
from contracts.dialects import bedrock
from contracts.errors import CODES

SPECS = registry.newest(registry.specs())
PATCH = registry.find("apply_patch_v2")
EXPORTS = {f"tools:{spec.model_name}": f"arn:function/{spec.model_name}" for spec in SPECS}
KEY = "key-12345678"
ARGUMENTS = {
    "idempotencyKey": KEY,
    "repoRoot": "/workspace/app",
    "files": [{"path": "a.txt", "mode": "replace_full", "content": 'x = "é"\r\n'}],
}
CHOICE = Choice("apply_patch_v2", ARGUMENTS)
OK = {"ok": True, "schemaVersion": 1, "files": [], "skippedAsDuplicate": False}
RETRYABLE = [code.name for code in CODES.values() if code.recovery == "retry"]


def group(spec, executor=None):
    """An action group as the synthesised template has it."""
    imported = {"Fn::ImportValue": f"tools:{spec.model_name}"}
    return {
        "ActionGroupName": spec.model_name,
        "ActionGroupState": "ENABLED",
        "ActionGroupExecutor": {"Lambda": imported if executor is None else executor},
        "ApiSchema": {"Payload": json.dumps(bedrock.emit(spec))},
    }


def template(*groups):
    return {
        "Resources": {
            "Role": {"Type": "AWS::IAM::Role", "Properties": {}},
            "Agent": {"Type": "AWS::Bedrock::Agent", "Properties": {"ActionGroups": list(groups)}},
        }
    }


def failed(code, **details):
    retryable = CODES[code].retryable
    error = {"code": code, "retryable": retryable, "message": "why", "details": details}
    return {"ok": False, "schemaVersion": 1, "error": error}


DIED = object()


class Lambda:
    """Answers each call with the next of some results; keeps what it was sent."""

    def __init__(self, *results):
        self.results, self.sent = list(results), []

    def invoke(self, **request):
        self.sent.append(request)
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if result is DIED:
            payload = {"errorMessage": "exit status 137", "errorType": "Runtime.ExitError"}
            return {
                "FunctionError": "Unhandled",
                "Payload": io.BytesIO(json.dumps(payload).encode()),
            }
        event = json.loads(request["Payload"])
        body = {"application/json": {"body": json.dumps(result)}}
        response = {"apiPath": event["apiPath"], "httpStatusCode": 200, "responseBody": body}
        answer = {"messageVersion": "1.0", "response": response}
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}


class Played:
    """An agent on a Lambda that answers these results; time passes in a list."""

    def __init__(self, *results):
        self.client, self.waits = Lambda(*results), []
        tools = operations(template(*map(group, SPECS)), EXPORTS)
        self.agent = BedrockAgent(tools, self.client, means=Means(sleep_ms=self.waits.append))

    def call(self, choice=CHOICE):
        return self.agent.call(choice)

    @property
    def attempts(self):
        return len(self.client.sent)


def test_every_tool_of_the_template_is_an_operation_with_its_lambda():
    found = operations(template(*map(group, SPECS)), EXPORTS)
    assert set(found) == {spec.model_name for spec in SPECS}
    for spec in SPECS:
        operation = found[spec.model_name]
        assert operation.executor == f"arn:function/{spec.model_name}"
        assert operation.schema == bedrock.request_schema(spec)
        assert operation.tool_name == bedrock.tool_name(spec)


def test_a_lambda_may_be_named_outright():
    found = operations(template(group(PATCH, "arn:aws:lambda:::function:x")), {})
    assert found["apply_patch_v2"].executor == "arn:aws:lambda:::function:x"


@pytest.mark.parametrize(
    ("broken", "exports", "says"),
    [
        ({}, {}, "no agent"),
        ({"Resources": {"Role": {"Type": "AWS::IAM::Role"}}}, {}, "no agent"),
        (template(), {}, "no agent"),
        (
            template(group(PATCH)),
            {},
            "tools:apply_patch_v2 is not exported: deploy the tools first",
        ),
        (template(group(PATCH, {"Ref": "X"})), {}, "neither an ARN nor an import"),
        (template(group(PATCH, 7)), {}, "neither an ARN nor an import"),
    ],
)
def test_a_template_that_cannot_be_played_says_why(broken, exports, says):
    with pytest.raises(TemplateError, match=says):
        operations(broken, exports)


def test_a_deployed_agents_lambdas_are_found_by_every_page_of_exports():
    class Cloud:
        def get_paginator(self, name):
            assert name == "list_exports"
            return self

        def paginate(self):
            for name, value in EXPORTS.items():
                yield {"Exports": [{"Name": name, "Value": value}]}

    client = Lambda(OK)
    agent = BedrockAgent.of_stack(
        template(*map(group, SPECS)), cloudformation=Cloud(), client=client
    )
    assert agent.call(CHOICE).result == OK
    assert client.sent[0]["FunctionName"] == "arn:function/apply_patch_v2"


def test_a_choice_is_sent_as_the_event_that_bedrock_sends():
    played = Played(OK)
    session = events.Session("s-1", "fix it", {"user": "u"})
    turn = played.agent.call(CHOICE, session)
    assert (turn.result, turn.attempts, turn.choice) == (OK, 1, CHOICE)
    event = json.loads(played.client.sent[0]["Payload"])
    assert event == turn.event == events.build(PATCH, ARGUMENTS, "bedrock", session).payload
    assert "ClientContext" not in played.client.sent[0]


def test_a_tool_that_the_agent_lacks_is_refused_before_anything_is_sent():
    played = Played(OK)
    with pytest.raises(TemplateError, match="no tool 'rm_v1'"):
        played.call(Choice("rm_v1", {}))
    assert played.attempts == 0


@pytest.mark.parametrize("code", RETRYABLE)
def test_a_retryable_failure_is_repeated_by_the_identical_event(code):
    played = Played(failed(code), OK)
    turn = played.call()
    assert (turn.result, turn.attempts) == (OK, 2)
    first, second = played.client.sent
    assert first == second
    assert len(played.waits) == 1


@pytest.mark.parametrize("code", [name for name in CODES if name not in RETRYABLE])
def test_no_other_failure_is_repeated(code):
    played = Played(failed(code))
    assert played.call().result["error"]["code"] == code
    assert (played.attempts, played.waits) == (1, [])


def test_a_wait_that_is_asked_for_is_kept_and_little_more():
    played = Played(*[failed("IN_PROGRESS", retryAfterMs=1_000)] * 8, OK)
    played.call()
    assert len(played.waits) == 8
    assert all(1_000 <= wait <= 1_250 for wait in played.waits)
    assert len(set(played.waits)) > 1


def test_without_a_wait_that_is_asked_for_waits_grow_up_to_a_limit():
    played = Played(failed("UNAVAILABLE"))
    played.call()
    low, high = Policy().backoff_ms
    for attempt, wait in enumerate(played.waits, 1):
        base = min(low * 2**attempt, high)
        assert base // 2 <= wait <= base


def test_it_gives_up_after_the_last_attempt_and_does_not_wait_for_nothing():
    played = Played(failed("UNAVAILABLE", retryAfterMs=300))
    turn = played.call()
    assert turn.result["error"]["code"] == "UNAVAILABLE"
    assert turn.attempts == played.attempts == Policy().attempts_max
    assert len(played.waits) == Policy().attempts_max - 1


def test_its_patience_outlasts_the_lease_of_a_killed_worker():
    played = Played(failed("IN_PROGRESS", retryAfterMs=5_000))
    played.call()
    assert sum(played.waits) > (PATCH.timeout_s + 2) * 1_000


def test_a_fault_is_retried_once_and_then_left_to_people():
    played = Played(failed("INTERNAL"))
    turn = played.call()
    assert turn.result["error"]["code"] == "INTERNAL"
    assert (turn.attempts, len(played.waits)) == (2, 1)
    script = Script(CHOICE, CHOICE)
    session = played.agent.run(script.run())
    assert session.escalated["error"]["code"] == "INTERNAL"
    assert (len(session.turns), script.seen) == (1, [])


def test_a_fault_among_other_failures_counts_by_itself():
    played = Played(failed("UNAVAILABLE"), failed("INTERNAL"), failed("TIMEOUT"), OK)
    assert played.call().attempts == 4


def test_a_dead_lambda_is_called_again_with_the_same_event():
    played = Played(DIED, DIED, {**OK, "skippedAsDuplicate": True})
    turn = played.call()
    assert (turn.result["skippedAsDuplicate"], turn.attempts) == (True, 3)
    assert len({request["Payload"] for request in played.client.sent}) == 1
    assert len(played.waits) == 2


def test_a_lambda_that_dies_to_the_last_is_an_error_that_names_it():
    played = Played(DIED)
    with pytest.raises(InvocationError, match="arn:function/apply_patch_v2 failed: Unhandled"):
        played.call()
    assert (played.attempts, len(played.waits)) == (
        Policy().attempts_max,
        Policy().attempts_max - 1,
    )


class Script:
    """Makes its choices in order, whatever is answered, and keeps what it was told."""

    def __init__(self, *choices):
        self.choices, self.seen, self.closed = choices, [], False

    def run(self):
        try:
            for choice in self.choices:
                self.seen.append((yield choice))
        finally:
            self.closed = True


def test_a_script_sees_each_result_and_the_session_keeps_each_turn():
    played = Played(failed("UNAVAILABLE"), OK, failed("NOT_FOUND"), OK)
    script = Script(CHOICE, Choice("read_file_v1", {"path": "a"}), CHOICE)
    session = played.agent.run(script.run())
    assert script.seen == [OK, failed("NOT_FOUND"), OK]
    assert [turn.attempts for turn in session.turns] == [2, 1, 1]
    assert [turn.choice.tool for turn in session.turns] == [
        "apply_patch_v2",
        "read_file_v1",
        "apply_patch_v2",
    ]
    assert session.escalated is None


@pytest.mark.parametrize("code", [c.name for c in CODES.values() if c.recovery == "replan"])
def test_a_failure_to_plan_around_is_handed_to_the_script(code):
    def script():
        result = yield CHOICE
        assert result["error"]["code"] == code
        repaired = {**ARGUMENTS, "idempotencyKey": "another-key"}
        assert (yield Choice("apply_patch_v2", repaired)) == OK

    played = Played(failed(code, keySpent=True), OK)
    session = played.agent.run(script())
    assert [turn.result["ok"] for turn in session.turns] == [False, True]
    sent = [json.loads(request["Payload"]) for request in played.client.sent]
    assert sent[0] != sent[1]
    assert session.escalated is None


@pytest.mark.parametrize("code", [c.name for c in CODES.values() if c.recovery == "escalate"])
def test_a_failure_for_people_ends_the_session(code):
    played = Played(failed(code))
    script = Script(CHOICE, CHOICE)
    session = played.agent.run(script.run())
    assert session.escalated == failed(code)
    assert (len(session.turns), played.attempts) == (1, 1)
    assert (script.seen, script.closed) == ([], True)


def test_a_script_without_choices_is_an_empty_session():
    session = Played(OK).agent.run(Script().run())
    assert (session.turns, session.escalated) == ([], None)


def test_a_call_too_large_to_send_is_answered_and_left_to_the_script():
    played = Played(OK)
    script = Script(Choice("apply_patch_v2", {**ARGUMENTS, "more": "x" * 6_300_000}), CHOICE)
    session = played.agent.run(script.run())
    assert session.turns[0].result["error"]["code"] == "TOO_LARGE"
    assert session.turns[0].result["error"]["details"]["keySpent"] is False
    assert (session.turns[1].result, played.attempts) == (OK, 1)
