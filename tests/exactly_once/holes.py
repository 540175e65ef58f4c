"""What goes wrong with stock Powertools, as stories that both sides go through.

Each story returns "" if the promise was kept, or what went wrong, in words.
"""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

from contracts.errors import DeadlineError, UnavailableError
from contracts.fingerprint import record_id
from functions._runtime import aws
from tests.exactly_once.sides import Ours, Stock, Values, spec_of
from tests.exactly_once.world import KEY, OVER_MS, TABLE, Crash, elsewhere, once, raising
from tests.faults.injector import Fault, Injector
from tests.functions.counter import count

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Hole:
    """One way to break the promise. `stock` and `ours` tell the story on their side."""

    id: str
    what: str
    stock: Callable[[], str]
    ours: Callable[[], str]


def _two_tools(side, run):
    """A tool calls another one of its process, with the same key, in the way of `run`."""
    process = side.process()
    inner = process.tool("inner")
    told = {}
    outer = process.tool("outer", start=once(lambda: told.update(inner=run(inner))))
    told["outer"] = outer(add=10)
    replays = {"inner": inner(), "outer": outer(add=10)}
    wrong = [
        f"{name} answered {told[name].value}, then {_heard(replays[name])}"
        for name in told
        if replays[name] != told[name]
    ]
    return "; ".join(wrong)


def _heard(said):
    return said.value if said.ok else said.code


def nested(side):
    return _two_tools(side, lambda inner: inner())


def threaded(side):
    return _two_tools(side, elsewhere)


def _overtaken(side, then=lambda: None):
    """A first attempt outlives its lease, a second one completes, then the first goes on."""
    told = {}

    def stall():
        told["second"] = elsewhere(side.process().tool())
        then()

    side.process().tool(before_commit=once(stall))(left_ms=OVER_MS)
    replay = side.process().tool()()
    wrong = []
    if count() != 1:
        wrong.append(f"{count()} effects")
    if replay != told["second"]:
        wrong.append(f"the answer {told['second'].value} became {_heard(replay)}")
    return ", ".join(wrong)


def late_success(side):
    return _overtaken(side)


def late_failure(side):
    return _overtaken(side, raising(UnavailableError("late")))


def _other_arguments(side, first):
    first()
    other = side.process().tool()(add=2)
    return f"other arguments ran under the key: {other.value}" if other.ok else ""


def other_arguments_after_a_crash(side):
    def crash():
        with suppress(Crash):
            side.process().tool(start=raising(Crash()))(left_ms=OVER_MS)

    return _other_arguments(side, crash)


def other_arguments_after_a_retryable_failure(side):
    failing = side.process().tool(start=raising(UnavailableError("busy")))
    return _other_arguments(side, failing)


def record_deleted(side):
    """The record vanishes while the first attempt runs, and a second attempt comes."""

    def vanish():
        spec = spec_of("count")
        aws.dynamodb().delete_item(
            TableName=TABLE, Key={"id": {"S": record_id(spec, "default", KEY)}}
        )
        elsewhere(side.process().tool())

    side.process().tool(before_commit=once(vanish))()
    return _effects()


def crash_after_the_effect(side):
    return _killed(side, Crash)


def exit_after_the_effect(side):
    return _killed(side, SystemExit)


def _killed(side, kind):
    with suppress(kind):
        side.process().tool(after_commit=raising(kind()))(left_ms=OVER_MS)
    side.process().tool()()
    return _effects()


def completion_throttled(side):
    """The write that completes the record is refused; the caller tries again after the lease."""
    last = len(side.calls) - 1
    injector = Injector(at=last, fault=Fault.THROTTLE)
    with _injected(injector):
        side.process().tool()(left_ms=OVER_MS)
    if tuple(injector.calls[: last + 1]) != side.calls:
        raise AssertionError(injector.calls)
    side.process().tool()()
    return _effects()


def release_throttled(side):
    """A tool fails, and then the write that gives its key back fails as well."""
    injector = Injector(at=1, fault=Fault.THROTTLE)
    with _injected(injector):
        said = side.process().tool(start=raising(DeadlineError("late")))()
    if len(injector.calls) != 2:
        raise AssertionError(injector.calls)
    return "" if said.code == "TIMEOUT" else f"the caller heard {said.code}"


def _injected(injector):
    client = injector.wrap(aws.dynamodb())
    return mock.patch.object(aws, "dynamodb", return_value=client)


def _effects(wanted=1):
    return "" if count() == wanted else f"{count()} effects"


def _replays(side, values):
    """Answers that must come back as they were."""
    wrong = []
    for number, value in enumerate(values):
        answering = side.process().answering(value)
        first, second = (answering(key=f"key-number-{number}") for _ in range(2))
        if first != second:
            wrong.append(f"{first.value!r} became {second.value!r}")
    return ", ".join(wrong)


def _unstorable(side, values):
    """Answers that no record can hold; the caller tries again after the lease."""
    most = 0
    for number, value in enumerate(values):
        before = count()
        for left_ms in (OVER_MS, 10_000):
            side.process().answering(value)(key=f"key-number-{number}", left_ms=left_ms)
        most = max(most, count() - before)
    return f"{most} effects" if most > 1 else ""


def _ours(**changes: Any) -> Values:
    # Not validated, as a handler may build it.
    given = {"text": "text", "items": ["item"], "number": 1, "flag": True}
    return Values.model_construct(**{**given, **changes})


LARGE = "x" * 450_000
ODD = (dt.datetime(2026, 1, 2, tzinfo=dt.UTC), {"a"}, b"bytes")


def _hole(hole_id, what, story):
    return Hole(hole_id, what, lambda: story(Stock()), lambda: story(Ours()))


HOLES = [
    _hole("A", "a tool calls another one of its process", nested),
    _hole("B", "two tools of one process run at once", threaded),
    _hole("C", "a late attempt succeeds after a newer one", late_success),
    _hole("D", "a late attempt fails after a newer one", late_failure),
    _hole("E", "other arguments after a crash", other_arguments_after_a_crash),
    _hole(
        "E-released",
        "other arguments after a retryable failure",
        other_arguments_after_a_retryable_failure,
    ),
    _hole("F", "the record is deleted while the call runs", record_deleted),
    _hole("G", "a crash between effect and completion", crash_after_the_effect),
    _hole("G-throttled", "the completion is throttled", completion_throttled),
    _hole("H", "SystemExit after the effect", exit_after_the_effect),
    _hole("I", "the release fails after a failure", release_throttled),
    Hole(
        "J-falsy",
        "an empty answer is replayed",
        lambda: _replays(Stock(), [{}, [], 0, False, ""]),
        lambda: _replays(Ours(), [_ours(text="", items=[], number=0, flag=False)]),
    ),
    # Stock writes the large value first and the status after it. So moto, which keeps what an
    # update did before its size was found, leaves the same record as DynamoDB: in progress.
    Hole(
        "J-large",
        "an answer of more than 400 kB",
        lambda: _unstorable(Stock(), [{"text": LARGE}]),
        lambda: _unstorable(Ours(), [_ours(text=LARGE)]),
    ),
    Hole(
        "J-odd",
        "a datetime, a set, bytes in the answer",
        lambda: _unstorable(Stock(), [{"value": value} for value in ODD]),
        lambda: _unstorable(Ours(), [_ours(number=value) for value in ODD]),
    ),
]
