"""The retry policy: which failures are repeated, after what wait, and until when."""

from __future__ import annotations

import pytest

from agents.retries import Policy, Retries, table
from contracts.errors import CODES
from tests.agents.loops import Clock


def failed(code, retryable=None, **details):
    retryable = CODES[code].retryable if retryable is None else retryable
    error = {"code": code, "retryable": retryable, "message": "why", "details": details}
    return {"ok": False, "schemaVersion": 1, "error": error}


def played(result, policy=None, took_ms=0):
    """The waits that a call gets that always ends so, and why it stopped."""
    clock = Clock()
    retries = Retries(policy or Policy(), clock.means)
    clock.now += took_ms
    while (wait := retries.wait_ms(result)) is not None:
        clock.sleep(wait)
        clock.now += took_ms
    return clock.waits, retries.stopped, retries.attempts


@pytest.mark.parametrize("result", [failed("UNAVAILABLE"), failed("quota_busy", True), None])
def test_what_a_repeat_may_heal_is_repeated_until_the_attempts_are_used_up(result):
    waits, stopped, attempts = played(result, Policy(attempts_max=4))
    assert (waits, stopped, attempts) == ([400, 800, 1_600], "attempts", 4)


@pytest.mark.parametrize(
    "result", [failed("VALIDATION"), failed("APPROVAL_PENDING"), failed("order_gone", False)]
)
def test_what_a_repeat_cannot_heal_is_not_repeated(result):
    assert played(result) == ([], "recovery", 1)


def test_a_fault_is_repeated_once():
    assert played(failed("INTERNAL")) == ([400], "fault", 2)


def test_no_wait_is_begun_that_ends_after_the_budget_of_time():
    waits, stopped, _ = played(failed("TIMEOUT"), Policy(budget_ms=30_000), took_ms=9_000)
    assert (waits, stopped) == ([400, 800, 1_600], "time")
    assert played(failed("TIMEOUT", retryAfterMs=10**12)) == ([], "time", 1)


def test_a_wait_that_is_asked_for_is_kept_with_jitter_on_top():
    waits, _, _ = played(failed("IN_PROGRESS", retryAfterMs=1_000), Policy(attempts_max=3))
    assert waits == [1_250, 1_250]


@pytest.mark.parametrize("asked", [0, -5, True, "1000", None, 1.5, [1]])
def test_a_wait_that_is_no_number_is_not_kept(asked):
    waits, _, _ = played(failed("IN_PROGRESS", retryAfterMs=asked), Policy(attempts_max=2))
    assert waits == [400]


def test_by_default_a_call_outlasts_the_lease_of_a_killed_worker():
    waits, stopped, _ = played(failed("IN_PROGRESS", retryAfterMs=5_000))
    assert stopped == "attempts"
    assert sum(waits) > 17_000


def test_the_table_has_a_row_for_every_code_and_for_what_has_none():
    rows = [row.split(" | ")[0].removeprefix("| ") for row in table()[2:]]
    assert rows == [*CODES, *["a code it does not know"] * 2, "no answer"]
