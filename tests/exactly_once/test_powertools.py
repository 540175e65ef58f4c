"""Powertools is pinned, and calls what FencedLayer replaces in the order it was written for."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pytest

from functions._runtime.idempotency import FencedLayer
from tests.exactly_once.world import OVER_MS, Crash, call, clock, elsewhere, once, raising
from tests.functions.counter import make

pytestmark = pytest.mark.usefixtures("aws_cloud")

ROOT = Path(__file__).parents[2]


def test_powertools_is_the_one_that_is_pinned():
    lines = (ROOT / "functions/requirements.txt").read_text("utf-8").splitlines()
    assert f"aws-lambda-powertools=={version('aws-lambda-powertools')}" in lines


PATTERNS = {
    "first run": ["_put_record", "_update_record"],
    "replay": ["_put_record"],
    "in progress": ["_put_record"],
    "conflict": ["_put_record"],
    "retryable failure": ["_put_record", "_delete_record"],
    "final failure": ["_put_record", "_update_record"],
    "replayed failure": ["_put_record"],
    "bug": ["_put_record", "_delete_record"],
    "crash": ["_put_record"],
    "takeover": ["_put_record", "_update_record"],
    "dry run": [],
}
"""How Powertools calls what FencedLayer replaces. `_get_record` is not: it is never called, since a
refused claim brings the record along."""


@pytest.fixture
def asked(monkeypatch):
    """The methods that Powertools called, of those that a persistence layer is made of."""
    names = []

    def spy(name):
        real = getattr(FencedLayer, name)

        def method(self, *given, **named):
            names.append(name)
            return real(self, *given, **named)

        monkeypatch.setattr(FencedLayer, name, method)

    for name in ("_get_record", "_put_record", "_update_record", "_delete_record"):
        spy(name)
    return names


def test_powertools_calls_the_layer_in_the_order_that_it_was_written_for(asked):
    found = {}

    def told(what, **given):
        asked.clear()
        with suppress(Crash):
            call(**given)
        found[what] = list(asked)

    told("first run")
    told("replay")
    told("conflict", add=2)
    told("dry run", dryRun=True)
    told("retryable failure", note="unavailable", idempotencyKey="key-retryable")
    told("final failure", note="odd", idempotencyKey="key-final")
    told("replayed failure", note="odd", idempotencyKey="key-final")
    told("bug", note="bug", idempotencyKey="key-bug-bug")
    crash = make(before_commit=raising(Crash()))
    told("crash", handler=crash, left_ms=OVER_MS, idempotencyKey="key-crash")
    told("takeover", idempotencyKey="key-crash")
    running = make(
        start=once(lambda: elsewhere(lambda: told("in progress", idempotencyKey="key-running")))
    )
    call(running, idempotencyKey="key-running")
    assert found == PATTERNS


@pytest.mark.usefixtures("still")
def test_a_lease_that_ends_on_one_clock_only_is_asked_for_three_times(asked):
    """Powertools judges by the machine's clock whether a lease is over, the claim by ours."""
    with clock(-60_000), pytest.raises(Crash):
        call(make(before_commit=raising(Crash())))
    asked.clear()
    with clock(-60_000):
        assert call()["error"]["code"] == "IN_PROGRESS"
    assert asked == ["_put_record"] * 3
    assert call()["ok"] is True
