"""Calls of a handler that stop before each AWS call until they are told how to go on.

Each attempt has a thread of its own, but only one thread runs at a time: which one, and how its AWS
call ends, is the test's choice. So any interleaving of several processes can be played, again and
again in the same way.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import threading
from contextlib import contextmanager, redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

from functions._runtime import aws, call, settings, tool
from tests.conftest import ALL_SCOPES
from tests.faults.injector import Client, Crash, Fault, Injector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HANG_S = 60
TIMEOUT_MS = 15_000
UNDONE = (Fault.CRASH_BEFORE, Fault.ERROR, Fault.THROTTLE, Fault.TIMEOUT_UNSENT)
"""With these the call does not happen."""
START_MS = 4_000_000_000_000
"""A moment far ahead: Powertools compares an answer's expiry with the machine's own clock, too."""

_running = threading.local()


class Clock:
    """The one clock of all attempts; it moves only when it is told to."""

    def __init__(self, ms: int = START_MS) -> None:
        self.ms = ms

    def __call__(self) -> int:
        return self.ms


class Attempt:
    """One call in a process of its own, as it were.

    `waits_for` is the AWS call that it stands before, None once it is over. Then `answer` is what
    it answered, or None if it crashed. `faults` are the AWS calls of it
    that did not go as they should. A `frozen` one does not see how time goes by, so it goes on when
    it should have given up.
    """

    def __init__(
        self,
        handler: Callable[[Any, Any], Any],
        arguments: dict[str, Any],
        tenant: str,
        clock: Clock,
        *,
        frozen: bool = False,
    ) -> None:
        self.tenant = tenant
        self.started_ms = clock()
        self.waits_for: str | None = None
        self.done: list[str] = []
        self.faults: list[str] = []
        self.claimed = False
        self.answer: dict[str, Any] | None = None
        self._handler, self._arguments = handler, arguments
        self._clock = Clock(clock.ms) if frozen else clock
        self._injector = Injector(before_call=self._wait)
        self._go, self._halted = threading.Semaphore(0), threading.Semaphore(0)
        self._escaped: BaseException | None = None
        bindings = {"direct": {"tenant": tenant, "scopes": ALL_SCOPES}}
        with mock.patch.dict(os.environ, TOOLGATE_BINDINGS=json.dumps(bindings)):
            settings.settings.cache_clear()
            threading.Thread(target=self._run, daemon=True).start()
            self._until_halted()

    @property
    def over(self) -> bool:
        """Whether it has answered or crashed."""
        return self.waits_for is None

    def step(self, fault: Fault | None = None) -> str:
        """Make the AWS call that it stands before, in this way; the call's name."""
        assert self.waits_for is not None
        operation = self.waits_for
        self.done.append(operation)
        self.claimed = self.claimed or (operation == "UpdateItem" and fault not in UNDONE)
        self._injector.at, self._injector.fault = len(self._injector.calls) - 1, fault
        if fault:
            self.faults.append(operation)
        self._go.release()
        self._until_halted()
        return operation

    def _wait(self, _number: int, operation: str) -> None:
        self._injector.at = None
        self.waits_for = operation
        self._halted.release()
        self._go.acquire()
        self.waits_for = None

    def _until_halted(self) -> None:
        with redirect_stdout(io.StringIO()):
            assert self._halted.acquire(timeout=HANG_S), "the attempt hangs"
        if self._escaped is not None:
            raise self._escaped

    def _run(self) -> None:
        _running.injector = self._injector
        context = SimpleNamespace(get_remaining_time_in_millis=self._remaining_ms)
        try:
            self.answer = self._handler(json.loads(json.dumps(self._arguments)), context)
        except Crash:
            pass
        except BaseException as error:  # noqa: BLE001  (it belongs to the test's own thread)
            self._escaped = error
        finally:
            self._halted.release()

    def _remaining_ms(self) -> int:
        return max(0, self.started_ms + TIMEOUT_MS - self._clock())


class _Whoever:
    """Stands for the injector of the attempt whose thread calls; other threads pass freely."""

    def call(self, operation: str, do: Callable[[], Any]) -> Any:
        injector = getattr(_running, "injector", None)
        return injector.call(operation, do) if injector else do()


@contextmanager
def played(clock: Clock) -> Iterator[None]:
    """Handlers use AWS clients that attempts can stop at, this clock, and owners in order."""
    owners = (f"{number:032x}" for number in itertools.count(1))
    whoever: Any = _Whoever()
    clients = {name: Client(getattr(aws, name)(), whoever) for name in ("dynamodb", "s3")}
    call.forget()
    with (
        mock.patch.object(aws, "dynamodb", return_value=clients["dynamodb"]),
        mock.patch.object(aws, "s3", return_value=clients["s3"]),
        mock.patch.object(tool, "now_ms", clock),
        mock.patch.object(tool, "new_owner", side_effect=owners),
    ):
        yield
