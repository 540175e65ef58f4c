"""`@tool(SPEC)`: everything that a tool must not forget, in one order.

    decode event → authorise → validate → precheck → dry run?
                 → claim [ approval gate → effect ] → render → measure

A handler below it only raises or returns: it cannot forget to validate, run twice, leak an
exception or invent the shape of an error. No exception leaves: a raised one ends an agent's turn.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from contracts import results
from contracts.errors import (
    ForbiddenPathError,
    InternalError,
    InvalidArgumentsError,
    ToolError,
)
from contracts.excess import excess
from contracts.fingerprint import fingerprint
from contracts.issues import issues, select
from contracts.spec import Approval
from functions._runtime import aws, events, keys, telemetry
from functions._runtime.approvals.asking import askable, gate_for, refuse_unaskable
from functions._runtime.call import Call
from functions._runtime.caller import Caller, Presented, authorise
from functions._runtime.commit import RecordedEffect, rendered
from functions._runtime.deadline import Deadline
from functions._runtime.idempotency import Attempt, Guard, RecordedError, Request
from functions._runtime.settings import Settings, settings
from functions._runtime.workspace.protected import Protection

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.results import Result
    from contracts.spec import ToolSpec
    from contracts.types import Answer, Contract

PATHS_LOOKED_AT = 1_000
"""Of a list that is too long for its contract; none of its items will be used."""

KEPT_BY_APPROVAL = frozenset({"APPROVAL_DENIED", "APPROVAL_EXPIRED"})
"""What the approval's own rows remember, for ever: it is the answer of one person's request.

The record is all callers' of a tenant, so it is released: somebody else's identical call has an
approval of its own, and one that was used up already must still come to its end.
"""
SPENT = KEPT_BY_APPROVAL | {"IDEMPOTENCY_CONFLICT"}
"""Failures in front of the record, or beside it, after which the key is of no use to who had it."""

R = TypeVar("R", bound="Contract")
A = TypeVar("A", bound="Answer")


def now_ms() -> int:
    """Milliseconds since the epoch; the one clock of the runtime."""
    return time.time_ns() // 1_000_000


def new_owner() -> str:
    """A fresh random id of an attempt: 32 hexadecimal digits."""
    return uuid.uuid4().hex


def tool(
    spec: ToolSpec,
    *,
    precheck: Callable[[Any, Call], None] | None = None,
    ready: Callable[[Any, Call], None] | None = None,
) -> Callable[[Callable[[R, Call], A]], Callable[[Any, Any], dict[str, Any]]]:
    """Make a Lambda handler of `run(request, call) -> output`.

    `precheck(request, call)` refuses, by raising a ToolError, what the arguments alone decide;
    nothing has been claimed by then, so the key is not spent. `ready(request, call)` refuses what
    people should not be bothered with: it runs once, right before they are asked.
    """

    def decorate(run: Callable[[R, Call], A]) -> Callable[[Any, Any], dict[str, Any]]:
        pipeline = Pipeline(spec, run, precheck, ready)

        @wraps(run)
        def handler(event: Any, context: Any) -> dict[str, Any]:
            return pipeline(event, context)

        return handler

    return decorate


class Pipeline:
    """One tool's way from event to answer. Holds no state of a call."""

    def __init__(
        self,
        spec: ToolSpec,
        run: Callable[[Any, Call], Answer],
        precheck: Callable[[Any, Call], None] | None,
        ready: Callable[[Any, Call], None] | None,
    ) -> None:
        self.spec = spec
        self._run = run
        self._precheck = precheck
        self._ready = ready
        self._guard: tuple[tuple[str, Any], Guard] | None = None

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        """The answer to one event, in the event's own dialect."""
        started = time.monotonic_ns()
        envelope = events.recognise(event, context)
        stage, attempt = "unknown", self._attempt(context)
        try:
            stage = settings().stage
            result = self._answer(envelope, settings(), attempt)
        except ToolError as error:
            result = attempt.answer or self._failure(error)
        except Exception as error:  # noqa: BLE001  (the one place: nothing may leave a handler)
            telemetry.unhandled(self.spec, error)
            # A fault after the commit changes nothing about what happened.
            internal = InternalError("a fault of ours; repeating once may help")
            result = attempt.answer or self._failure(internal)
        telemetry.measure(
            self.spec,
            result,
            stage=stage,
            duration_ms=(time.monotonic_ns() - started) // 1_000_000,
            dialect=envelope.dialect,
            attempt=attempt.number or None,
            requestId=getattr(context, "aws_request_id", None),
        )
        return events.render(envelope, result)

    def _answer(self, envelope: events.Envelope, stage: Settings, attempt: Attempt) -> Result:
        arguments, token = events.arguments(envelope, self.spec)
        caller = self._caller(Presented(envelope.surface, envelope.session_id, token), stage)
        request = self._validated(arguments)
        call = Call(
            spec=self.spec,
            caller=caller,
            settings=stage,
            deadline=Deadline(attempt.remaining_ms, self.spec.timeout_s),
            now_ms=now_ms,
            dry_run=bool(getattr(request, "dry_run", False)),
            protection=self._protection(caller, stage),
        )
        if self._precheck:
            self._precheck(request, call)
        if not self.spec.mutates or call.dry_run:
            return rendered(self.spec, self._run(request, call))[0]
        if self.spec.approval is Approval.DUAL:
            # Known before the claim, so the key is not spent on it.
            refuse_unaskable(caller, stage)
        return self._once(request, call, attempt)

    def _caller(self, presented: Presented, stage: Settings) -> Caller:
        ring = keys.ring(stage.caller_keys) if stage.caller_keys else None
        return authorise(presented, self.spec, stage, now_ms=now_ms(), ring=ring)

    def _validated(self, arguments: dict[str, Any]) -> Contract:
        """The model of the arguments. An unsafe path outweighs whatever else is wrong."""
        found = excess(arguments, self.spec.input_schema)
        most = PATHS_LOOKED_AT if found else None
        for pointer, rule in self.spec.path_rules:
            for place, value in select(arguments, pointer, most=most):
                if isinstance(value, str) and (problem := rule.problem(value)):
                    raise ForbiddenPathError(
                        f"the path at {place} {problem}", path=place, reason="UNSAFE_PATH"
                    )
        if not found:
            try:
                return self.spec.input.model_validate(arguments)
            except ValidationError as error:
                found = issues(error, self.spec.input_schema)
        raise InvalidArgumentsError(
            f"{found[0]['path'] or 'the call'}: {found[0]['problem']}", issues=found
        )

    def _once(self, request: Contract, call: Call, attempt: Attempt) -> Result:
        """Claim, then have the effect: at most once for this tenant and key."""

        def body(attempt: Attempt) -> Result:
            layer = self._guarded(call.settings).layer
            ready = partial(self._ready, request, call) if self._ready else None
            gate = partial(gate_for, self.spec, request, call, ready)
            effect = RecordedEffect(self.spec, layer, attempt, gate)
            try:
                if self.spec.approval is Approval.DUAL:
                    effect.approve()
                self._run(request, replace(call, effect=effect))
            except RecordedError as recorded:
                attempt.answer = recorded.answer
            except ToolError as error:
                if error.is_retryable() or error.code in KEPT_BY_APPROVAL:
                    raise
                if attempt.answer is not None:
                    raise
                return results.with_key_spent(results.failure(self.spec, error), spent=True)
            if attempt.answer is None:
                raise InternalError("the tool ended without an answer; nothing was changed")
            return attempt.answer

        key = request.idempotency_key  # type: ignore[attr-defined]
        asked = Request(call.caller.tenant, key, fingerprint(self.spec, request))
        return self._guarded(call.settings).run(asked, attempt, body)

    def _protection(self, caller: Caller, stage: Settings) -> Protection:
        """People lift the protection of paths for those who say who they are."""
        asks = self.spec.approval is Approval.WHEN_PROTECTED
        return Protection(liftable=asks and askable(caller, stage))

    def _guarded(self, stage: Settings) -> Guard:
        """The tool's guard, made once for as long as the stage and its client are the same."""
        made_for = (stage.idempotency_table, aws.dynamodb())
        if self._guard is None or self._guard[0] != made_for:
            self._guard = (made_for, Guard(self.spec, table=made_for[0], client=made_for[1]))
        return self._guard[1]

    def _failure(self, error: ToolError) -> Result:
        result = results.failure(self.spec, error)
        if not self.spec.mutates:
            return result
        return results.with_key_spent(result, spent=error.code in SPENT)

    def _attempt(self, context: Any) -> Attempt:
        """The attempt's clocks; without a Lambda context the tool's own timeout counts."""
        remaining = getattr(context, "get_remaining_time_in_millis", None)
        if not callable(remaining):
            ends_ns = time.monotonic_ns() + self.spec.timeout_s * 1_000_000_000

            def remaining() -> int:
                return max(0, (ends_ns - time.monotonic_ns()) // 1_000_000)

        return Attempt(now_ms=now_ms, new_owner=new_owner, remaining_ms=remaining)
