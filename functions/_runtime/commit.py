"""The effect's commit: its own writes and the answer's completion, in one transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import ValidationError

from contracts import results
from contracts.errors import InternalError, TooLargeError, UnavailableError
from functions._runtime import telemetry
from functions._runtime.effect import PreconditionFailedError
from functions._runtime.idempotency import RecordedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.results import Result
    from contracts.spec import ToolSpec
    from contracts.types import Answer
    from functions._runtime.approvals.gate import Gate
    from functions._runtime.effect import Approved, TransactItem
    from functions._runtime.idempotency import Attempt, FencedLayer

RESULT_MAX_BYTES = 200_000
"""A stored answer must fit a DynamoDB item of 400 kB with room to spare."""


def rendered(spec: ToolSpec, output: Answer) -> tuple[Result, str]:
    """The success and its JSON text, checked against its contract and its size.

    Raises InternalError for an output that breaks its contract, TooLargeError for one too large.
    """
    try:
        result = results.success(spec, output)
    except ValidationError as error:
        telemetry.failed("an output breaks its contract", error)
        raise InternalError("the tool's answer breaks its contract; nothing was changed") from None
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    if (size := len(text.encode("utf-8"))) > RESULT_MAX_BYTES:
        raise TooLargeError(
            "the answer is too large; ask for less at a time", limit=RESULT_MAX_BYTES, actual=size
        )
    return result, text


class RecordedEffect:
    """Commits an effect together with the idempotency record of its call.

    `gate(operation)` is the approval of the call; it raises ForbiddenError where there is none to
    be had. Once it was asked for, nothing is committed but with it.
    """

    def __init__(
        self, spec: ToolSpec, layer: FencedLayer, attempt: Attempt, gate: Callable[[str], Gate]
    ) -> None:
        self._spec = spec
        self._layer = layer
        self._attempt = attempt
        self._tries = 0
        self._make_gate = gate
        self._gate: Gate | None = None
        self._used = False
        self.operation: str = attempt.key[layer.key_attr]["S"]

    def approve(self) -> Approved:
        """See Effect."""
        return self._asked().approve()

    def consume(self) -> Approved:
        """See Effect."""
        approved = self._asked().consume(self._layer.fence())
        self._used = True
        return approved

    def _asked(self) -> Gate:
        if self._gate is None:
            self._gate = self._make_gate(self.operation)
        return self._gate

    def commit(self, items: list[TransactItem], output: Answer) -> None:
        """Write `items` and complete the record with `output`, or nothing.

        Raises PreconditionFailedError, UnavailableError, RecordedError, what `rendered` raises, and
        what an approval that was asked for raises if it stands no more.
        A call has one commit: RuntimeError for another one.
        """
        if self._attempt.answer is not None:
            raise RuntimeError("a call commits once")
        result, text = rendered(self._spec, output)
        gate = None if self._used else self._gate
        used_up = gate.consumption() if gate else []
        self._tries += 1
        try:
            self._layer.client.transact_write_items(
                TransactItems=[*items, *used_up, self._layer.completion(text)],
                # One token a try: a rebase writes other items, and must not pass for a repeat.
                ClientRequestToken=f"{self._attempt.owner}-{self._tries}",
            )
        except ClientError as error:
            reasons = _reasons(error)
            if reasons and not _lost(reasons[-1]) and any(map(_outdated, reasons)):
                raise PreconditionFailedError from error
            result = self._settled(error)
        except BotoCoreError as error:
            result = self._settled(error)
        self._attempt.answer = result
        if gate:
            gate.consumed()

    def _settled(self, error: Exception) -> Result:
        """After any doubt the record decides: it is completed exactly if the effect happened."""
        telemetry.failed("a commit was not confirmed", error)
        unavailable = UnavailableError(
            "the change could not be confirmed; repeat the identical call"
        )
        try:
            status, owner, answer = self._layer.standing()
        except (ClientError, BotoCoreError):
            raise unavailable from error
        if status != "COMPLETED" or answer is None:
            raise unavailable from error
        if owner != self._attempt.owner:
            raise RecordedError(results.as_duplicate(answer)) from error
        return answer


def _reasons(error: ClientError) -> list[dict[str, Any]]:
    reasons: list[dict[str, Any]] = error.response.get("CancellationReasons", [])
    return reasons if isinstance(reasons, list) else []


def _lost(reason: dict[str, Any]) -> bool:
    return reason.get("Code") == "ConditionalCheckFailed"


def _outdated(reason: dict[str, Any]) -> bool:
    """The state moved under the effect, or a rival transaction was at it."""
    return reason.get("Code") in {"ConditionalCheckFailed", "TransactionConflict"}
