"""From a call to its gate: what is asked, of whom, for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.errors import ForbiddenError
from contracts.fingerprint import arguments, fingerprint_of, statement
from contracts.issues import select
from functions._runtime import aws
from functions._runtime.approvals.gate import Asking, Gate
from functions._runtime.approvals.ledger import Ledger
from functions._runtime.approvals.people import excluded, person, requester
from functions._runtime.approvals.rows import Binding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from contracts.spec import ToolSpec
    from contracts.types import Contract
    from functions._runtime.call import Call
    from functions._runtime.caller import Caller
    from functions._runtime.settings import Approvals, Settings

ROOT = "/repoRoot"
"""Names a workspace and no file of it."""
PATHS_MAX = 10
WORD_MAX = 120
"""Of what a list of requests shows; the whole is a click away."""


def refuse_unaskable(caller: Caller, settings: Settings) -> Approvals:
    """Where the stage keeps approvals, if people can be asked on behalf of this caller.

    Raises ForbiddenError, `details.reason` NO_APPROVALS or SUBJECT_REQUIRED.
    """
    if settings.approvals is None:
        raise ForbiddenError(
            "this tool needs approval, which this stage cannot give", reason="NO_APPROVALS"
        )
    requester(caller)
    return settings.approvals


def askable(caller: Caller, settings: Settings) -> bool:
    """Whether people can be asked on behalf of this caller."""
    return settings.approvals is not None and person(caller.subject or "") is not None


def gate_for(
    spec: ToolSpec,
    request: Contract,
    call: Call,
    ready: Callable[[], None] | None,
    operation: str,
) -> Gate:
    """The gate of a call; `operation` is the id of its record, `ready` runs before anyone is asked.

    Raises ForbiddenError as `refuse_unaskable` does.
    """
    stage = refuse_unaskable(call.caller, call.settings)
    text = statement(spec, request)
    binding = Binding(
        stage=call.settings.stage,
        tenant=call.caller.tenant,
        requester=requester(call.caller),
        tool=spec.name,
        major=spec.major,
        fingerprint=fingerprint_of(text),
        key=request.idempotency_key,  # type: ignore[attr-defined]
        agent=person(call.caller.agent or ""),
    )
    asking = Asking(
        binding=binding,
        operation=operation,
        excluded=excluded(call.caller),
        surface=call.caller.surface,
        version=spec.version,
        subject=subject(spec, arguments(request)),
        text=text,
    )

    def page(title: str, message: str) -> None:
        aws.sns().publish(TopicArn=stage.topic, Subject=title, Message=message)

    return Gate(
        Ledger(aws.dynamodb(), aws.s3(), stage.table, stage.bucket),
        asking,
        stage,
        page=page,
        ready=ready or (lambda: None),
        clock=call.deadline,
        now_ms=call.now_ms,
    )


def subject(spec: ToolSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a call is about, for a list: its short texts, and the paths that it names.

    `{"repoRoot": …, "paths": [at most 10], "more": how many are not shown}`
    """
    pointers = [pointer for pointer, _ in spec.path_rules if pointer != ROOT]
    paths = [str(value)[:WORD_MAX] for one in pointers for _, value in select(given, one)]
    named = {pointer.strip("/") for pointer in pointers}
    words: dict[str, Any] = {
        name: value
        for name, value in given.items()
        if isinstance(value, str) and len(value) <= WORD_MAX and name not in named
    }
    if pointers:
        words |= {"paths": paths[:PATHS_MAX], "more": max(0, len(paths) - PATHS_MAX)}
    return words
