"""A call has one commit: a second one, or one after a doubt, never changes what was answered."""

from __future__ import annotations

import json
from unittest import mock

import pytest
from botocore.exceptions import ReadTimeoutError

from contracts.errors import UnavailableError
from functions._runtime import aws
from functions._runtime.tool import tool
from tests.exactly_once.sides import adding
from tests.exactly_once.world import call, raising, record
from tests.faults.injector import Client, Fault, Injector
from tests.functions.counter import SPEC, OddError, Output, count, make

pytestmark = pytest.mark.usefixtures("aws_cloud")


def stored():
    return json.loads(record()["data"]["S"])


def test_a_second_commit_is_a_bug_that_changes_nothing(capsys):
    @tool(SPEC)
    def handler(request, call):
        call.effect.commit([adding(1)], Output(count=1))
        call.effect.commit([adding(1)], Output(count=2))
        return Output(count=2)

    first = call(handler)
    assert first["count"] == stored()["count"] == 1
    assert call(handler) == {**first, "skippedAsDuplicate": True}
    assert count() == 1
    assert "RuntimeError" in capsys.readouterr().out


def test_a_handler_that_tries_again_after_a_doubt_answers_what_happened_first():
    """The first commit lands unseen, and the look at the record fails: the handler asks again."""

    @tool(SPEC)
    def handler(request, call):
        try:
            call.effect.commit([adding(1)], Output(count=1))
        except UnavailableError:
            call.effect.commit([adding(1)], Output(count=2))
        return Output(count=2)

    class Deaf(Injector):
        def call(self, operation, do):
            if operation == "GetItem" and "GetItem" not in self.calls:
                self.calls.append(operation)
                raise ReadTimeoutError(endpoint_url="https://aws.invalid")
            return super().call(operation, do)

    client = Client(aws.dynamodb(), Deaf(at=1, fault=Fault.TIMEOUT_DONE))
    with mock.patch.object(aws, "dynamodb", return_value=client):
        first = call(handler)
    assert first["count"] == stored()["count"] == 1
    assert call() == {**first, "skippedAsDuplicate": True}
    assert count() == 1


@pytest.mark.parametrize("fault", [Fault.TIMEOUT_DONE, Fault.TIMEOUT_UNSENT, Fault.THROTTLE])
def test_after_any_doubt_the_answer_is_the_records(fault):
    @tool(SPEC)
    def handler(request, call):
        call.effect.commit([adding(1)], Output(count=1))
        return Output(count=1)

    client = Injector(at=1, fault=fault).wrap(aws.dynamodb())
    with mock.patch.object(aws, "dynamodb", return_value=client):
        first = call(handler)
    if fault is Fault.TIMEOUT_DONE:
        assert first == stored()
    else:
        assert first["error"]["code"] == "UNAVAILABLE"
        assert first["error"]["details"] == {"keySpent": False}
        assert count() == 0
    assert call(handler)["ok"] is True
    assert count() == 1


def test_a_commit_without_effects_still_answers_once():
    ran = []

    @tool(SPEC)
    def handler(request, call):
        ran.append(1)
        call.effect.commit([], Output(count=0))
        return Output(count=0)

    assert call(handler)["skippedAsDuplicate"] is False
    assert call(handler)["skippedAsDuplicate"] is True
    assert len(ran) == 1


def test_what_a_handler_returns_is_not_the_answer_but_what_it_committed():
    @tool(SPEC)
    def handler(request, call):
        call.effect.commit([adding(1)], Output(count=1))
        return Output(count=99)

    assert call(handler)["count"] == stored()["count"] == 1


@pytest.mark.parametrize(
    "error", [None, RuntimeError("bug"), OddError("odd"), UnavailableError("")]
)
def test_after_the_commit_the_record_is_left_alone(error, aws_calls):
    hooks = {"after_commit": raising(error)} if error else {}
    first = call(make(**hooks))
    assert aws_calls == ["UpdateItem", "GetItem", "TransactWriteItems"]
    assert first == stored()
    assert call() == {**first, "skippedAsDuplicate": True}


def test_every_try_has_a_token_of_its_own_that_dynamodb_takes():
    """A repeat by the SDK has the same token and cannot land twice; a rebase is no repeat."""
    tokens = []

    def watch(params, **_):
        tokens.append(params["ClientRequestToken"])

    def move():
        if len(tokens) < 3:
            aws.dynamodb().update_item(**adding(1)["Update"])

    event = "provide-client-params.dynamodb.TransactWriteItems"
    aws.dynamodb().meta.events.register(event, watch)
    try:
        assert call(make(before_commit=move))["count"] == 4
    finally:
        aws.dynamodb().meta.events.unregister(event, watch)
    owner = record()["owner"]["S"]
    assert tokens == [f"{owner}-{n}" for n in range(1, 5)]
    assert all(1 <= len(token) <= 36 for token in tokens)
