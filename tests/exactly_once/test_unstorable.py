"""Answers that no record can hold are found before the effect; and who may write a record."""

from __future__ import annotations

import datetime as dt
import json
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from unittest import mock

import pytest
from pydantic import Field

from contracts.errors import ConflictError, TooLargeError, UnavailableError
from contracts.types import Answer
from functions._runtime import aws
from functions._runtime.commit import RESULT_MAX_BYTES
from functions._runtime.tool import tool
from tests.exactly_once.sides import adding
from tests.exactly_once.world import (
    OVER_MS,
    TABLE,
    Crash,
    call,
    elsewhere,
    once,
    raising,
    record,
)
from tests.faults.injector import Fault, Injector
from tests.functions.counter import SPEC, OddError, count, make

pytestmark = pytest.mark.usefixtures("aws_cloud")


class Text(Answer):
    text: str = Field(description="Text.")
    number: float = Field(default=0.0, description="A number.")


def answering(**fields):
    """A tool whose answer is not validated before it is committed."""
    output = Text.model_construct(**{"text": "", "number": 0.0, **fields})

    @tool(replace(SPEC, output=Text))
    def handler(request, call):
        call.effect.commit([adding(1)], output)
        return output

    return handler


class Opaque:
    pass


UNFIT = {
    "a set": {"text": {"a"}},
    "bytes that are no text": {"text": b"\xff"},
    "an object": {"text": Opaque()},
    "nothing": {"text": None},
    "a number for a text": {"text": 1},
    "not a number": {"number": float("nan")},
    "infinity": {"number": float("inf")},
    "a lone surrogate": {"text": "\ud800"},
}


@pytest.mark.parametrize("fields", UNFIT.values(), ids=UNFIT)
def test_an_answer_that_is_not_its_contract_fails_before_the_effect_and_frees_the_key(
    fields, aws_calls
):
    answer = call(answering(**fields))
    assert answer["error"]["code"] == "INTERNAL"
    assert answer["error"]["retryable"] is True
    assert answer["error"]["details"] == {"keySpent": False}
    assert aws_calls == ["UpdateItem", "UpdateItem"]
    assert count() == 0
    assert record()["status"] == {"S": "INPROGRESS"}
    assert record()["in_progress_expiration"] == {"N": "0"}
    assert "data" not in record()
    # The mended tool does it, under the same key and at once.
    assert call(answering(text="mended"))["text"] == "mended"
    assert count() == 1


@pytest.mark.parametrize("letter", ["x", "é", "\U0001f600", '"'])
def test_an_answer_too_large_for_its_record_is_a_final_failure_without_an_effect(letter, aws_calls):
    text = letter * (RESULT_MAX_BYTES // len(json.dumps(letter, ensure_ascii=False)[1:-1].encode()))
    first = call(answering(text=text))
    assert first["error"]["code"] == "TOO_LARGE"
    assert first["error"]["retryable"] is False
    details = first["error"]["details"]
    assert details["keySpent"] is True
    assert details["actual"] > details["limit"] == RESULT_MAX_BYTES
    assert "TransactWriteItems" not in aws_calls
    assert count() == 0
    replay = call(answering(text="small"))
    assert replay["error"]["details"] == {**details, "replayed": True}
    assert count() == 0


def test_the_largest_answer_is_stored_and_replayed():
    around = len(json.dumps(call(answering(text="")), separators=(",", ":")))
    first = call(answering(text="x" * (RESULT_MAX_BYTES - around)), idempotencyKey="another-key")
    assert first["ok"] is True
    again = call(answering(text="unused"), idempotencyKey="another-key")
    assert again == {**first, "skippedAsDuplicate": True}


def test_every_empty_answer_is_replayed_as_it_was():
    first = call(answering())
    assert first["text"] == ""
    assert first["number"] == 0
    assert call(answering(text="unused")) == {**first, "skippedAsDuplicate": True}


@pytest.mark.parametrize(
    "details", [{"what": {"a"}}, {"what": b"bytes"}, {"what": Opaque()}], ids=["set", "bytes", "it"]
)
def test_a_failure_that_no_record_can_hold_frees_the_key(details):
    answer = call(make(start=raising(ConflictError("found", **details))))
    assert answer["error"]["code"] == "INTERNAL"
    assert record()["in_progress_expiration"] == {"N": "0"}
    assert call()["ok"] is True
    assert count() == 1


def test_a_failure_with_large_details_is_stored_without_them():
    answer = call(make(start=raising(ConflictError("found", what="x" * 600_000))))
    assert answer["error"]["code"] == "CONFLICT"
    assert answer["error"]["details"]["keySpent"] is True
    assert len(record()["data"]["S"]) < 20_000
    assert call()["error"]["details"]["replayed"] is True


@pytest.mark.parametrize("value", [dt.datetime(2026, 1, 2, tzinfo=dt.UTC), Decimal("1.5")])
def test_what_becomes_text_on_the_wire_is_stored_as_its_caller_sees_it(value):
    first = call(answering(text=value))
    assert isinstance(first["text"], str)
    assert call(answering(text="unused")) == {**first, "skippedAsDuplicate": True}
    assert count() == 1


def test_a_tool_that_ends_without_an_answer_frees_the_key():
    @tool(SPEC)
    def handler(request, call):
        return None

    assert call(handler)["error"]["code"] == "INTERNAL"
    assert call()["ok"] is True
    assert count() == 1


ENDS = [
    {},
    {"start": raising(UnavailableError("busy"))},
    {"start": raising(OddError("odd"))},
    {"start": raising(TooLargeError("large", limit=1, actual=2))},
    {"start": raising(RuntimeError("bug"))},
    {"before_commit": raising(Crash())},
    {"after_commit": raising(Crash())},
    {"after_commit": raising(RuntimeError("bug"))},
]


@pytest.fixture
def writes():
    """Every write to the record's table, as it was sent."""
    sent = []

    def watch(params, model, **_):
        if model.name == "TransactWriteItems":
            entries = [next(iter(item.items())) for item in params["TransactItems"]]
        else:
            entries = [(model.name, params)]
        reads = {"GetItem", "DescribeTable"}
        sent.extend(e for e in entries if e[1].get("TableName") == TABLE and e[0] not in reads)

    event = "provide-client-params.dynamodb"
    aws.dynamodb().meta.events.register(event, watch)
    yield sent
    aws.dynamodb().meta.events.unregister(event, watch)


def test_a_record_is_written_by_its_claim_and_by_its_owner_and_in_no_other_way(writes):
    for number, hooks in enumerate(ENDS):
        for left_ms in (OVER_MS, 10_000):
            with suppress(Crash):
                call(make(**hooks), left_ms=left_ms, idempotencyKey=f"key-number-{number}")
    assert len(writes) > 2 * len(ENDS)
    assert {operation for operation, _ in writes} == {"UpdateItem", "Update"}
    owned = "#status=:running AND #owner=:owner"
    claims = [sent for _, sent in writes if sent["ConditionExpression"] != owned]
    assert len(claims) == 2 * len(ENDS)
    for sent in claims:
        assert sent["ConditionExpression"] == (
            "attribute_not_exists(#id) OR #expiry < :now "
            "OR (#status=:running AND #lease < :now_ms AND #hash=:hash)"
        )
    owners = [sent["ExpressionAttributeValues"][":owner"]["S"] for sent in claims]
    assert len(set(owners)) == len(owners)


def test_those_who_find_the_record_taken_leave_no_mark_on_it():
    seen = []

    def rivals():
        before = record()
        seen.extend([call(), call(add=2), call(dryRun=True), call(add=0)])
        assert record() == before

    assert call(make(before_commit=once(lambda: elsewhere(rivals))))["ok"] is True
    codes = [None if answer["ok"] else answer["error"]["code"] for answer in seen]
    assert codes == ["IN_PROGRESS", "IDEMPOTENCY_CONFLICT", None, "VALIDATION"]
    completed = record()
    call()
    call(add=2)
    assert record() == completed
    assert count() == 1


@pytest.mark.parametrize("kind", [Crash, SystemExit, KeyboardInterrupt, GeneratorExit])
@pytest.mark.parametrize("point", ["start", "before_commit", "after_commit"])
def test_an_end_that_nothing_catches_writes_nothing_more(kind, point, aws_calls):
    """Whether its effect happened cannot be known from inside: the lease decides."""
    left = []

    def end():
        left.append(record())
        aws_calls.clear()
        raise kind

    with pytest.raises(kind):
        call(make(**{point: end}))
    assert aws_calls == []
    assert record() == left[0]
    answer = call()
    if point == "after_commit":
        assert answer["skippedAsDuplicate"] is True
    else:
        assert answer["error"]["code"] == "IN_PROGRESS"
    assert count() == (1 if point == "after_commit" else 0)


def test_without_a_claim_nothing_runs():
    ran = []
    client = Injector(at=0, fault=Fault.THROTTLE).wrap(aws.dynamodb())
    with mock.patch.object(aws, "dynamodb", return_value=client):
        answer = call(make(start=lambda: ran.append(1)))
    assert answer["error"]["code"] == "UNAVAILABLE"
    assert answer["error"]["details"] == {"keySpent": False}
    assert ran == []
    assert record() is None
