"""Whose a key is: other arguments never get it within its retention, and after it, it is new."""

from __future__ import annotations

import pytest

from contracts.errors import UnavailableError
from functions._runtime import aws
from tests.exactly_once.world import (
    DAY_MS,
    LEASE_MS,
    OVER_MS,
    TABLE,
    Crash,
    call,
    clock,
    elsewhere,
    once,
    raising,
    record,
)
from tests.functions.counter import OddError, count, make

pytestmark = pytest.mark.usefixtures("aws_cloud", "still")


def _running(steal):
    stolen = []
    call(make(before_commit=once(lambda: stolen.append(elsewhere(steal)))))
    return stolen[0], 1


def _released(steal):
    call(make(start=raising(UnavailableError("busy"))))
    return steal(), 0


def _crashed(steal):
    with pytest.raises(Crash):
        call(make(before_commit=raising(Crash())))
    return steal(), 0


def _after_the_lease(steal):
    with pytest.raises(Crash):
        call(make(before_commit=raising(Crash())))
    with clock(LEASE_MS + 1):
        return steal(), 0


def _stolen_from_a_zombie(steal):
    stolen = []
    call(make(start=once(lambda: stolen.append(elsewhere(steal)))), left_ms=OVER_MS)
    return stolen[0], 1


def _completed(steal):
    call()
    return steal(), 1


def _failed_for_good(steal):
    call(make(start=raising(OddError("odd"))))
    return steal(), 0


@pytest.mark.parametrize(
    "state",
    [
        _running,
        _released,
        _crashed,
        _after_the_lease,
        _stolen_from_a_zombie,
        _completed,
        _failed_for_good,
    ],
)
def test_other_arguments_never_get_the_key_within_its_retention(state):
    states = []

    def steal():
        before = record()
        answer = call(add=50)
        states.append(before == record())
        return answer

    answer, effects = state(steal)
    assert answer["error"]["code"] == "IDEMPOTENCY_CONFLICT"
    assert answer["error"]["retryable"] is False
    assert answer["error"]["details"] == {"keySpent": True}
    assert states == [True]
    assert count() == effects


def test_within_a_day_the_answer_stands_and_after_it_the_key_is_new():
    first = call()
    with clock(DAY_MS):
        assert call() == {**first, "skippedAsDuplicate": True}
        assert call(add=2)["error"]["code"] == "IDEMPOTENCY_CONFLICT"
    with clock(DAY_MS + 1_000):
        # DynamoDB reaps late: the old record may still be there.
        fresh = call(add=2)
        assert fresh["skippedAsDuplicate"] is False
        assert fresh["count"] == 3
        assert call(add=2) == {**fresh, "skippedAsDuplicate": True}
    assert count() == 3


def test_a_reaped_record_is_a_new_key():
    call()
    aws.dynamodb().delete_item(TableName=TABLE, Key={"id": record()["id"]})
    assert call(add=2)["skippedAsDuplicate"] is False
    assert count() == 3


def test_the_day_begins_when_the_answer_is_there():
    with pytest.raises(Crash):
        call(make(before_commit=raising(Crash())))
    with clock(DAY_MS // 2):
        answered = call()
    with clock(DAY_MS + DAY_MS // 2):
        assert call() == {**answered, "skippedAsDuplicate": True}
    assert count() == 1
