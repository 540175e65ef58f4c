"""Attempts that outlive their lease, clocks that differ, keys that others want: one answer."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from contracts.errors import ConflictError, UnavailableError
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

LATE = {
    "success": lambda: None,
    "retryable failure": raising(UnavailableError("late")),
    "final failure": raising(OddError("late")),
    "bug": raising(RuntimeError("late")),
    "death": raising(Crash()),
}
late_ends = pytest.mark.parametrize("late", LATE.values(), ids=LATE)


def stalled(meanwhile, late=lambda: None, point="before_commit"):
    """A first attempt past its lease: `meanwhile` happens, then it ends as `late` says.

    (its answer, or None if it died; the record as `meanwhile` left it)
    """
    left = {}

    def stall():
        elsewhere(meanwhile)
        left["record"] = record()
        late()

    answer = None
    with suppress(Crash):
        answer = call(make(**{point: once(stall)}), left_ms=OVER_MS)
    return answer, left["record"]


def essence(answer):
    """What was answered, whether first or replayed."""
    answer = {k: v for k, v in answer.items() if k != "skippedAsDuplicate"}
    if not answer["ok"]:
        details = {k: v for k, v in answer["error"]["details"].items() if k != "replayed"}
        answer["error"] = {**answer["error"], "details": details}
    return answer


@late_ends
@pytest.mark.parametrize("point", ["start", "before_commit"])
def test_a_late_end_changes_nothing_about_a_newer_success(late, point):
    second = {}
    first, left = stalled(lambda: second.update(call()), late, point)
    assert second["ok"] is True
    assert second["skippedAsDuplicate"] is False
    assert record() == left
    assert count() == 1
    assert call() == {**second, "skippedAsDuplicate": True}
    if first:
        # Told the newer answer, or to ask again: never that the key is free or used up.
        assert first == {**second, "skippedAsDuplicate": True} or first["error"]["retryable"]


@late_ends
def test_a_late_end_changes_nothing_about_a_newer_final_failure(late):
    second = {}
    refusing = make(start=raising(ConflictError("the newer attempt found a conflict")))
    first, left = stalled(lambda: second.update(call(refusing)), late)
    assert second["error"]["code"] == "CONFLICT"
    assert record() == left
    assert count() == 0
    replay = call()
    assert replay["error"]["details"]["replayed"] is True
    assert essence(replay) == essence(second)
    if first:
        assert essence(first) == essence(second) or first["error"]["retryable"]


@late_ends
def test_a_late_end_does_not_act_on_a_record_that_a_newer_attempt_released(late):
    second = {}
    failing = make(start=raising(UnavailableError("busy")))
    first, left = stalled(lambda: second.update(call(failing)), late)
    assert second["error"]["code"] == "UNAVAILABLE"
    assert record() == left
    assert count() == 0
    if first:
        assert first["error"]["retryable"] is True
    assert call()["skippedAsDuplicate"] is False
    assert count() == 1


def test_a_late_end_does_not_complete_a_record_that_a_newer_attempt_holds():
    """The newer attempt is still at work when the first one comes to its commit."""
    begun, ended = threading.Event(), threading.Event()
    second = {}

    def at_work():
        begun.set()
        assert ended.wait(30)

    def newer():
        second.update(call(make(before_commit=once(at_work))))

    thread = threading.Thread(target=newer)

    def overtake():
        thread.start()
        assert begun.wait(30)

    first, _ = stalled(overtake)
    assert first["error"]["code"] == "UNAVAILABLE"
    assert first["error"]["details"]["keySpent"] is False
    assert count() == 0
    ended.set()
    thread.join()
    assert second["skippedAsDuplicate"] is False
    assert count() == 1


def test_three_generations_of_late_attempts_have_one_effect_between_them():
    def third():
        return call()

    def second():
        return call(make(before_commit=once(lambda: elsewhere(third))), left_ms=OVER_MS)

    first, left = stalled(second)
    assert left["attempt"] == {"N": "3"}
    assert record() == left
    assert first == call()
    assert count() == 1


@late_ends
@pytest.mark.parametrize("skew_ms", [-10_000, 0, 10_000])
def test_clocks_that_differ_cost_a_wait_or_a_takeover_and_never_a_second_effect(skew_ms, late):
    """The second attempt's clock is off by `skew_ms`; each keeps its own to its end."""
    for number, passed_ms in enumerate((0, LEASE_MS - skew_ms, LEASE_MS - skew_ms + 1)):
        key = f"key-number-{number}"
        before, second = count(), {}

        def other(key=key, passed_ms=passed_ms, second=second):
            with clock(passed_ms + skew_ms):
                second.update(call(idempotencyKey=key))

        def stall(other=other):
            elsewhere(other)
            late()

        with suppress(Crash):
            call(make(start=once(stall)), idempotencyKey=key)
        taken_over = number == 2
        assert second["ok"] is taken_over
        if not taken_over:
            assert second["error"]["code"] == "IN_PROGRESS"
            assert 250 <= second["error"]["details"]["retryAfterMs"] <= 5_000
        # Whoever was told to come back does, with the better clock.
        with clock(30_000):
            end, again = call(idempotencyKey=key), call(idempotencyKey=key)
        assert essence(end) == essence(again)
        assert count() - before == (1 if end["ok"] else 0)
        if taken_over:
            assert essence(end) == essence(second)


def _next_day(steal):
    with clock(DAY_MS + 1_000):
        steal()


def _record_deleted(steal):
    aws.dynamodb().delete_item(TableName=TABLE, Key={"id": record()["id"]})
    steal()


@pytest.mark.parametrize("lost", [_next_day, _record_deleted])
def test_who_lost_the_key_to_other_arguments_neither_acts_nor_hears_their_answer(lost):
    others = {}
    first, left = stalled(lambda: lost(lambda: others.update(call(add=5))))
    assert others["count"] == 5
    assert record() == left
    assert count() == 5
    assert first["error"]["code"] == "UNAVAILABLE"
