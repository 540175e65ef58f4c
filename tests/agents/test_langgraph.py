"""What is sent for a call of LangGraph's model, and what it is told: without LangGraph."""

from __future__ import annotations

import json
import sys

import pytest
from botocore.exceptions import ClientError, NoCredentialsError
from jsonschema import Draft202012Validator

from agents import langgraph
from agents.attempts import TokenError
from agents.events import AnswerError
from agents.langgraph import Calls, MissingExtraError, completed, document, key_of, offered
from agents.retries import Means, Policy
from agents.targets import InProcessTarget, InvocationError
from contracts import registry
from contracts.dialects import emitted, langchain
from tests.agents.graphs import (
    CALL,
    CHANGE,
    ORDERS,
    PATCH,
    READ,
    ROOT,
    THREAD,
    Scripted,
)

THREE = Policy(attempts_max=3)


def means(waits=None):
    """Time that stands still, and waits that are written down."""
    noted = waits if waits is not None else []
    return Means(elapsed_ms=lambda: 0, sleep_ms=noted.append, uniform=lambda low, _: low)


def failing(code, *, retryable, **details):
    error = {"code": code, "retryable": retryable, "message": "m", "details": details}
    return {"ok": False, "schemaVersion": 2, "error": error}


def refusal(status):
    answer = {"Error": {"Code": "E"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "Invoke")


BUSY = failing("UNAVAILABLE", retryable=True, keySpent=False)
RUNNING = failing("IN_PROGRESS", retryable=True, keySpent=False, retryAfterMs=250)
PENDING = failing("APPROVAL_PENDING", retryable=True, keySpent=False)
DONE = {"ok": True, "schemaVersion": 2, "skippedAsDuplicate": True}
GONE = InvocationError("killed")


def ended(spec, *answers, **more):
    """(code or OK, how often it was sent) of one call to a target that answers so."""
    target = Scripted(*answers)
    arguments = CHANGE if spec.mutates else {"repoRoot": ROOT, "path": "a.txt"}
    calls = Calls(target, policy=THREE, means=means(), **more)
    result = calls.result(spec, arguments, THREAD, CALL)
    if not result["ok"] and result not in answers:
        Draft202012Validator(emitted(spec, "json-schema")["error"]).validate(result)
    assert all(one == target.sent[0] for one in target.sent)
    return ("OK" if result["ok"] else result["error"]["code"]), len(target.sent)


def test_a_tool_goes_by_its_versioned_name_and_the_newest_by_its_bare_name_too():
    both = dict(offered(registry.specs()))
    assert {spec.model_name for spec in registry.specs()} < set(both)
    for spec in registry.newest(registry.specs()):
        assert both[spec.folder] is both[spec.model_name] is spec
    assert both["apply_patch_v1"] is registry.find("apply_patch_v1")
    assert [name for name, _ in offered([ORDERS], "versioned")] == ["orders_lookup_v1"]
    assert [name for name, _ in offered([ORDERS], "bare")] == ["orders_lookup"]


@pytest.mark.parametrize("spec", registry.specs(), ids=lambda spec: spec.model_name)
def test_a_model_is_shown_the_emitted_schema_without_what_the_harness_supplies(spec):
    shown = document(spec.folder, spec)
    assert shown == {**langchain.emit(spec), "name": spec.folder}
    told = shown["args_schema"]["properties"]
    assert set(spec.input_schema["properties"]) - set(told) == (
        {"idempotencyKey", "schemaVersion"} if spec.mutates else set()
    )


def test_a_key_is_that_of_the_thread_and_the_call_and_of_nothing_else():
    # Stored with what was done: another way to make it would do it twice. The digest is that of
    # `printf '["thread-1", "call_1"]' | sha256sum`.
    assert key_of(THREAD, CALL) == (
        "lg-aee9b7b1c60005da694f79a07afa2941793bcdd72d490d287b39a7796436c8e8"
    )
    keys = {key_of(*pair) for pair in [("a", "bc"), ("ab", "c"), ("a", "b"), ("\ud800", "é")]}
    assert len(keys) == 4


def test_a_change_is_sent_with_key_and_version_and_a_read_with_neither():
    sent = completed(PATCH, CHANGE, THREAD, CALL)
    assert sent == {**CHANGE, "idempotencyKey": key_of(THREAD, CALL), "schemaVersion": 2}
    assert completed(ORDERS, {"order_id": "x"}, None, None) == {"order_id": "x"}


@pytest.mark.parametrize(
    ("arguments", "thread", "call", "path"),
    [
        ({**CHANGE, "idempotencyKey": "of-the-model"}, THREAD, CALL, "/idempotencyKey"),
        ({**CHANGE, "schemaVersion": 2}, THREAD, CALL, "/schemaVersion"),
        ({**CHANGE, "_caller": "of-the-model"}, THREAD, CALL, "/_caller"),
        ({**CHANGE, "messageVersion": "1.0"}, THREAD, CALL, "/messageVersion"),
        ("text", THREAD, CALL, ""),
        (CHANGE, None, CALL, "/idempotencyKey"),
        (CHANGE, "", CALL, "/idempotencyKey"),
        (CHANGE, THREAD, None, "/idempotencyKey"),
    ],
)
def test_what_no_model_may_say_and_what_makes_no_key_is_refused_unsent(
    arguments, thread, call, path
):
    target = Scripted()
    result = Calls(target).result(PATCH, arguments, thread, call)
    assert (result["error"]["code"], target.sent) == ("VALIDATION", [])
    assert [one["path"] for one in result["error"]["details"]["issues"]] == [path]
    assert result["error"]["details"]["keySpent"] is False
    assert "of-the-model" not in json.dumps(result)


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ([DONE], ("OK", 1)),
        ([BUSY, DONE], ("OK", 2)),
        ([GONE, DONE], ("OK", 2)),
        ([AnswerError("no result"), RUNNING, DONE], ("OK", 3)),
        ([refusal(429), refusal(503), DONE], ("OK", 3)),
        ([PENDING], ("APPROVAL_PENDING", 1)),
        ([failing("CONFLICT", retryable=False, keySpent=True)], ("CONFLICT", 1)),
        ([failing("order_not_found", retryable=False)], ("order_not_found", 1)),
        ([refusal(403)], ("FORBIDDEN", 1)),
        ([BUSY, BUSY, BUSY], ("UNAVAILABLE", 3)),
        ([refusal(429)] * 3, ("UNAVAILABLE", 3)),
    ],
)
def test_what_may_help_is_repeated_identically_and_nothing_else(answers, outcome):
    assert ended(PATCH, *answers) == outcome


@pytest.mark.parametrize(
    "answers",
    [
        [GONE, GONE, GONE],
        [GONE, BUSY, BUSY],
        [RUNNING, BUSY, BUSY],
        [NoCredentialsError(), GONE, refusal(500)],
        [GONE, failing("FORBIDDEN", retryable=False, keySpent=False)],
    ],
)
def test_a_change_that_may_have_happened_is_not_offered_for_another_try(answers):
    assert ended(PATCH, *answers) == ("OUTCOME_UNKNOWN", len(answers))


@pytest.mark.parametrize(
    "settled",
    [PENDING, failing("CONFLICT", retryable=False, keySpent=True), DONE],
)
def test_an_answer_of_who_holds_the_key_ends_the_doubt(settled):
    code = "OK" if settled["ok"] else settled["error"]["code"]
    assert ended(PATCH, GONE, settled) == (code, 2)


def test_a_read_that_nobody_answers_may_be_asked_again():
    assert ended(READ, GONE, GONE, GONE) == ("UNAVAILABLE", 3)


def test_every_attempt_is_made_with_a_token_of_its_own_and_none_without_one():
    made = iter(["token-1", "token-2"])
    target = Scripted(BUSY, DONE)
    calls = Calls(target, token=lambda: next(made), means=means())
    assert calls.result(PATCH, CHANGE, THREAD, CALL) == DONE
    assert [sent["_caller"] for sent in target.sent] == ["token-1", "token-2"]

    def no_token():
        raise TokenError("the file is gone")

    target = Scripted()
    calls = Calls(target, token=no_token, policy=THREE, means=means())
    error = calls.result(PATCH, CHANGE, THREAD, CALL)["error"]
    assert (error["code"], error["details"], target.sent) == (
        "UNAVAILABLE",
        {"keySpent": False},
        [],
    )


def test_without_langchain_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain_core", None)
    with pytest.raises(MissingExtraError, match="pip install 'langgraph"):
        langgraph.make_tools([ORDERS], InProcessTarget())
