"""When a call is repeated, how long to wait first, and when to stop: the one retry policy.

Pure: `Retries` is told how each attempt ended and says how long to wait before the next, or why
there is none. The loop and the played Bedrock agent both follow it. A repeated call is always the
identical one, so a tool does it once, however often it is sent.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from contracts.errors import CODES, recovery

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from contracts.errors import Recovery
    from contracts.results import Result

FAULT = "INTERNAL"

Stop = Literal["recovery", "fault", "attempts", "time"]
"""Why there is no further attempt: it would not help, a fault came back, a budget is used up."""


@dataclass(frozen=True)
class Policy:
    """How much patience a call gets; times in milliseconds.

    By default it outlasts the lease of a killed worker, which is what takes longest to heal.
    """

    attempts_max: int = 12
    budget_ms: int = 120_000
    """No wait is begun that would end later than this after the first attempt."""
    faults_max: int = 2
    """A fault of the tool's own (INTERNAL) is worth one retry; a second one is for people."""
    backoff_ms: tuple[int, int] = (200, 5_000)


@dataclass(frozen=True)
class Means:
    """Time, sleep and chance, so that tests have their own."""

    wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    """Milliseconds since 1970, for what is written down."""
    elapsed_ms: Callable[[], int] = lambda: time.monotonic_ns() // 1_000_000
    """Milliseconds on a clock that nobody sets, for budgets."""
    sleep_ms: Callable[[int], None] = lambda ms: time.sleep(ms / 1_000)
    asleep_ms: Callable[[int], Awaitable[None]] = lambda ms: asyncio.sleep(ms / 1_000)
    uniform: Callable[[float, float], float] = field(
        default_factory=lambda: random.Random().uniform  # noqa: S311  (jitter, not a secret)
    )


@dataclass
class Retries:
    """What one call has cost so far. `stopped` says why, once there is no further attempt."""

    policy: Policy
    means: Means
    attempts: int = 0
    faults: int = 0
    stopped: Stop | None = None
    _began_ms: int = field(init=False)

    def __post_init__(self) -> None:
        self._began_ms = self.means.elapsed_ms()

    def wait_ms(self, result: Result | None) -> int | None:
        """How long to wait before the next attempt; None if there is to be none.

        `result` is how the last attempt ended: a failure, or None if there was no answer, whose
        outcome is unknown, so that only repeating it tells.
        """
        self.attempts += 1
        self.faults += is_fault(result)
        if result is not None and reaction(result) != "retry":
            self.stopped = "recovery"
        elif self.faults >= self.policy.faults_max:
            self.stopped = "fault"
        elif self.attempts >= self.policy.attempts_max:
            self.stopped = "attempts"
        else:
            wait = self._backoff_ms(result)
            if self.means.elapsed_ms() + wait - self._began_ms <= self.policy.budget_ms:
                return wait
            self.stopped = "time"
        return None

    def _backoff_ms(self, result: Result | None) -> int:
        """What the failure asks for and a little more, else exponential; both with jitter."""
        asked = retry_after_ms(result)
        if asked is not None:
            return int(asked * self.means.uniform(1.0, 1.25))
        low, high = self.policy.backoff_ms
        return int(min(low * 2**self.attempts, high) * self.means.uniform(0.5, 1.0))


def reaction(result: Result) -> Recovery | None:
    """What a caller does about a result; None for a success."""
    if result["ok"]:
        return None
    error = result["error"]
    return recovery(error["code"], retryable=error["retryable"])


def is_fault(result: Result | None) -> bool:
    """Whether the tool itself is broken, as it says."""
    return result is not None and not result["ok"] and result["error"]["code"] == FAULT


def retry_after_ms(result: Result | None) -> int | None:
    """The wait that a failure asks for in its details, if that is a number above zero."""
    details: Any = result["error"].get("details", {}) if result and not result["ok"] else {}
    asked = details.get("retryAfterMs")
    usable = isinstance(asked, int) and not isinstance(asked, bool) and asked > 0
    return asked if usable else None


def table(policy: Policy | None = None) -> list[str]:
    """What the loop does about each code, as a Markdown table."""
    policy = policy or Policy()
    rows = ["| code | retryable | the loop | when that does not help |", "|---|---|---|---|"]
    for code in CODES.values():
        first, then = _behaviour(code.name, code.retryable, policy)
        rows.append(f"| {code.name} | {'yes' if code.retryable else 'no'} | {first} | {then} |")
    first, then = _behaviour("", True, policy)
    rows.append(f"| a code it does not know | yes | {first} | {then} |")
    first, then = _behaviour("", False, policy)
    rows.append(f"| a code it does not know | no | {first} | {then} |")
    rows.append(f"| no answer | | {_RETRY.format(policy.attempts_max)} | {_REPORT}, resumable |")
    return rows


_RETRY = "repeats the identical call, {} times in all"
_REPORT = "stops with a report"


def _behaviour(code: str, retryable: bool, policy: Policy) -> tuple[str, str]:
    does = recovery(code, retryable=retryable)
    if does == "retry":
        times = policy.faults_max if code == FAULT else policy.attempts_max
        return _RETRY.format(times), f"{_REPORT}, resumable"
    if does == "replan":
        return "hands the error to the model, once", f"{_REPORT} when the same error comes again"
    return f"{_REPORT}, resumable" if retryable else _REPORT, "-"
