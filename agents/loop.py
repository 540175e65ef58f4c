"""An agent's loop: a model chooses, the loop calls, and failures are met as their codes ask.

    retry      the identical call again, under `agents.retries`
    replan     the typed error goes to the model, once for each distinct error
    escalate   the session stops with a report for people

A model chooses a tool and its arguments. What it must not choose is added here: the idempotency
key, made of the session's secret, the turn and the action, so that a harness that crashed and
starts again sends the same one; the version; the caller's token. With a journal the call itself
is kept too, and is sent again as it was, to the version that had it.

The logic is a generator that asks for what it needs (`Send`, `Wait`, `Ask`); `Loop` drives it in a
thread or on an event loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from agents import targets
from agents.journal import KEPT_MS, Call
from agents.retries import Means, Policy, Retries, reaction
from agents.turns import (
    HARNESS,
    Choice,
    Escalation,
    LoopError,
    Outcome,
    Report,
    Step,
    Told,
    complete,
    idempotency_key,
    is_final,
    names,
    offered,
    unknown,
)
from contracts import registry

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence

    from agents.journal import Journal
    from agents.turns import Reason
    from contracts.results import Result
    from contracts.spec import ToolSpec

T = TypeVar("T")

SECRET_MIN_BYTES = 16
TURNS_MAX = 50


@dataclass(frozen=True)
class Send:
    """Asks for a result of a call; None says that it died."""

    spec: ToolSpec
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Wait:
    """Asks for a pause."""

    ms: int


@dataclass(frozen=True)
class Ask:
    """Asks the model for its next choice, given what happened; None says that it is done."""

    steps: tuple[Step, ...]


class Loop:
    """Calls tools for a model, in one session. See the module."""

    def __init__(
        self,
        target: targets.Target,
        *,
        secret: bytes,
        specs: Iterable[ToolSpec] | None = None,
        pins: Mapping[str, int] | None = None,
        journal: Journal | None = None,
        token: Callable[[], str] | None = None,
        policy: Policy | None = None,
        means: Means | None = None,
    ) -> None:
        """`secret` is this session's, 16 bytes or more, and the same after a crash.

        `specs` are the tools that are deployed, all by default; of each the newest active version
        is offered, or the one that `pins` names by major. `token` makes the caller's token for
        each sending, since one lives shorter than a session. Raises LoopError.
        """
        if len(secret) < SECRET_MIN_BYTES:
            raise LoopError(f"the secret has fewer than {SECRET_MIN_BYTES} bytes")
        known = tuple(registry.specs() if specs is None else specs)
        self._known = {spec.model_name: spec for spec in known}
        self.tools = offered(known, pins or {})
        self._target, self._secret, self._journal = target, secret, journal
        self._token, self._policy = token, policy or Policy()
        self._means = means or Means()

    def call(self, tool: str, arguments: dict[str, Any], *, turn: int, action: int = 0) -> Outcome:
        """One call of a session, repeated while that helps.

        The same turn and action is the same call: it is sent again as it was, or, if its answer is
        known, answered from the journal. Raises LoopError, contracts.registry.UnknownToolError for
        a tool that is not offered, and agents.journal.JournalError.
        """
        return self._drive(self._calling(self._prepare(Choice(tool, arguments), turn, action)))

    async def acall(
        self, tool: str, arguments: dict[str, Any], *, turn: int, action: int = 0
    ) -> Outcome:
        """`call` on an event loop."""
        call = self._prepare(Choice(tool, arguments), turn, action)
        return await self._adrive(self._calling(call))

    def resume(self, call: Call) -> Outcome:
        """Send a call again as it was: same version, arguments and key. Raises as `call` does."""
        return self._drive(self._calling(call))

    async def aresume(self, call: Call) -> Outcome:
        """`resume` on an event loop."""
        return await self._adrive(self._calling(call))

    def unfinished(self) -> tuple[Call, ...]:
        """The journal's calls without a final answer, oldest first: what a crash left to resume."""
        entries = self._journal.entries.values() if self._journal else ()
        return tuple(entry.call for entry in entries if not is_final(entry.result))

    def run(
        self,
        model: Callable[[Sequence[Step]], Choice | None],
        *,
        first_turn: int = 0,
        turns_max: int = TURNS_MAX,
    ) -> Report:
        """Let a model choose until it answers None, or until people must look at it.

        `model` gets the steps so far. Turns are numbered from `first_turn`: go on after the last
        one of the journal if a session is continued by another run.
        """
        return self._drive(self._session(first_turn, turns_max), model)

    async def arun(
        self,
        model: Callable[[Sequence[Step]], Awaitable[Choice | None]],
        *,
        first_turn: int = 0,
        turns_max: int = TURNS_MAX,
    ) -> Report:
        """`run` on an event loop, with a model that is awaited."""
        return await self._adrive(self._session(first_turn, turns_max), model)

    def _prepare(self, choice: Choice, turn: int, action: int) -> Call:
        arguments = {k: v for k, v in choice.arguments.items() if k not in HARNESS}
        entry = self._journal.entries.get((turn, action)) if self._journal else None
        if entry is None:
            spec = self._offered(choice.tool)
            key = idempotency_key(self._secret, turn, action)
            return Call(turn, action, spec.model_name, key, arguments)
        spec = self._version(entry.call)
        if choice.tool not in names(spec) or entry.call.arguments != arguments:
            raise LoopError(
                f"turn {turn}, action {action} was another call: resume that, or take a new action"
            )
        return entry.call

    def _offered(self, name: str) -> ToolSpec:
        for spec in self.tools.values():
            if name in names(spec):
                return spec
        there = ", ".join(self.tools)
        raise registry.UnknownToolError(f"no tool is called {name!r}; there are {there}")

    def _version(self, call: Call) -> ToolSpec:
        if call.tool not in self._known:
            raise LoopError(f"{call.tool}, which a call was made for, is not deployed any more")
        return self._known[call.tool]

    def _calling(self, call: Call) -> Generator[Send | Wait | Ask, Any, Outcome]:
        """One call to its end."""
        spec = self._version(call)
        entry = self._journal.entries.get(call.place) if self._journal else None
        if entry is not None:
            if entry.call != call:
                raise LoopError("the journal has another call at this turn and action")
            if entry.result is not None and is_final(entry.result):
                return self._ended(call, entry.result, 0, None)
            aged = self._means.wall_ms() - entry.sent_ms > KEPT_MS
            if spec.mutates and aged and not entry.is_pending:
                stop = Escalation("too old", call, None, 0, resumable=False)
                return Outcome(None, 0, stop)
        retries = Retries(self._policy, self._means)
        while True:
            if self._journal:
                self._journal.sent(call, self._means.wall_ms())
            result = yield Send(spec, complete(spec, call))
            if self._journal and result is not None:
                self._journal.answered(call, result)
            if result is not None and result["ok"]:
                return Outcome(result, retries.attempts + 1)
            wait = retries.wait_ms(result)
            if wait is None:
                return self._ended(call, result, retries.attempts, retries.stopped)
            yield Wait(wait)

    def _ended(
        self, call: Call, result: Result | None, attempts: int, stopped: Reason | None
    ) -> Outcome:
        """The outcome of a call that is not sent again now."""
        does = None if result is None else reaction(result)
        if result is not None and does in {None, "replan"}:
            return Outcome(result, attempts)
        reason: Reason = "no answer" if result is None else stopped or "recovery"
        resumable = result is None or result["error"]["retryable"]
        escalation = Escalation(reason, call, result, attempts, resumable=resumable)
        return Outcome(result, attempts, escalation)

    def _session(
        self, first_turn: int, turns_max: int
    ) -> Generator[Send | Wait | Ask, Any, Report]:
        """A session to its end. Every choice is a turn of its own, so a replan gets a new key."""
        steps: tuple[Step, ...] = ()
        told = Told()
        for turn in range(first_turn, first_turn + turns_max):
            choice = yield Ask(steps)
            if choice is None:
                return Report(steps)
            call = None
            try:
                call = self._prepare(choice, turn, 0)
            except registry.UnknownToolError:
                outcome = Outcome(unknown(self.tools), 0)
            else:
                outcome = yield from self._calling(call)
            if outcome.result is not None:
                steps += (Step(choice, outcome.result, outcome.attempts),)
            if outcome.escalation is not None:
                return Report(steps, outcome.escalation)
            if outcome.result and told.again(call.tool if call else "", outcome.result):
                stop = Escalation(
                    "same error", call, outcome.result, outcome.attempts, resumable=False
                )
                return Report(steps, stop)
        return Report(steps, Escalation("turns", None, None, 0, resumable=False))

    def _drive(self, work: Generator[Send | Wait | Ask, Any, T], model: Any = None) -> T:
        answer: Any = None
        while True:
            try:
                asked = work.send(answer)
            except StopIteration as stop:
                done: T = stop.value
                return done
            if isinstance(asked, Wait):
                self._means.sleep_ms(asked.ms)
                answer = None
            elif isinstance(asked, Ask):
                answer = model(asked.steps)
            else:
                answer = self._sent(asked)

    async def _adrive(self, work: Generator[Send | Wait | Ask, Any, T], model: Any = None) -> T:
        answer: Any = None
        while True:
            try:
                asked = work.send(answer)
            except StopIteration as stop:
                done: T = stop.value
                return done
            if isinstance(asked, Wait):
                await self._means.asleep_ms(asked.ms)
                answer = None
            elif isinstance(asked, Ask):
                answer = await model(asked.steps)
            else:
                answer = await self._asent(asked)

    def _sent(self, asked: Send) -> Result | None:
        try:
            return targets.call(self._target, asked.spec, asked.arguments, token=self._signed())
        except targets.InvocationError:
            return None

    async def _asent(self, asked: Send) -> Result | None:
        token = self._signed()
        try:
            return await targets.acall(self._target, asked.spec, asked.arguments, token=token)
        except targets.InvocationError:
            return None

    def _signed(self) -> str | None:
        return None if self._token is None else self._token()
