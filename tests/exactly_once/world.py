"""One call as a Lambda process makes it, the record it leaves, and threads as other processes."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from unittest import mock

from contracts.fingerprint import record_id
from functions._runtime import aws, tool
from tests.functions.counter import SPEC, args, make

TABLE = "idempotency"
KEY = args()["idempotencyKey"]
LEFT_MS = 10_000
LEASE_MS = 12_000
"""LEFT_MS and the grace."""
DAY_MS = 86_400_000
OVER_MS = -10_000
"""The time left of an attempt whose lease has ended by the time that another one comes: it saves
the tests the waiting. More than the grace."""


class Crash(BaseException):
    """What a killed process looks like from inside: nothing catches it."""


class Context:
    """A Lambda context with a chosen time left; never a mock, which Powertools takes for more."""

    aws_request_id = "request-1"
    client_context = None

    def __init__(self, left_ms=LEFT_MS):
        self.left_ms = left_ms

    def get_remaining_time_in_millis(self):
        return self.left_ms


def call(handler=None, left_ms=LEFT_MS, **changes):
    """The answer of one call of the counter, by a fresh process unless a handler is given."""
    return (handler or make())(args(**changes), Context(left_ms))


def elsewhere(do):
    """What `do` returns in a thread of its own, which ends before this returns."""
    ends = []

    def run():
        try:
            ends.append((do(), None))
        except BaseException as error:  # noqa: BLE001  (it is raised again below)
            ends.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    ((value, error),) = ends
    if error:
        raise error
    return value


def once(do):
    """`do`, but only the first time: a rebase passes its hook again."""
    left = [do]
    return lambda: left.pop()() if left else None


def raising(error):
    """A hook that raises."""

    def hook():
        raise error

    return hook


def record(key=KEY, spec=SPEC):
    """The whole record of a call, or None."""
    found = aws.dynamodb().get_item(
        TableName=TABLE, Key={"id": {"S": record_id(spec, "default", key)}}, ConsistentRead=True
    )
    return found.get("Item")


@contextmanager
def clock(by_ms):
    """The clock of every attempt that begins meanwhile; it keeps it to its end."""
    real = tool.now_ms

    def moved():
        return real() + by_ms

    with mock.patch.object(tool, "now_ms", moved):
        yield
