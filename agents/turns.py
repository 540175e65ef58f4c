"""What a loop's session is made of, and what the harness adds to what a model chose.

Pure: tools that are offered, keys, complete arguments and the schema that a model sees.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from contracts import caller, registry
from contracts.errors import CODES
from contracts.fingerprint import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agents.journal import Call
    from contracts.results import Result
    from contracts.spec import ToolSpec

KEY = "idempotencyKey"
VERSION = "schemaVersion"
HARNESS = frozenset({KEY, VERSION, caller.ARGUMENT})
"""Arguments that the harness supplies, whatever a model says."""
PASSING = frozenset({"keySpent", "replayed", "retryAfterMs", "expiresAt"})
"""Details that do not make one error distinct from another."""

Reason = Literal[
    "recovery", "fault", "attempts", "time", "no answer", "same error", "turns", "too old"
]


class LoopError(ValueError):
    """The loop was set up or used in a way that cannot work; the message says why."""


@dataclass(frozen=True)
class Choice:
    """What the model decided: a tool, by any of its names, and its arguments."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One choice and what came of it; `attempts` is how often it was sent."""

    choice: Choice
    result: Result
    attempts: int


@dataclass(frozen=True)
class Escalation:
    """Why people must look at it. If `resumable`, `Loop.resume` sends `call` again, as it was."""

    reason: Reason
    call: Call | None
    result: Result | None
    attempts: int
    resumable: bool


@dataclass(frozen=True)
class Outcome:
    """How one call ended: with a result to go on with, or with an escalation, or both."""

    result: Result | None
    attempts: int
    escalation: Escalation | None = None


@dataclass(frozen=True)
class Report:
    """A session: every step, and why it stopped before the model was done, if it did."""

    steps: tuple[Step, ...]
    escalation: Escalation | None = None


@dataclass
class Told:
    """The errors that the model has been handed, by tool, since the tool last worked."""

    errors: dict[str, set[str]] = field(default_factory=dict)

    def again(self, tool: str, result: Result) -> bool:
        """Whether the model has been told of this very error; from now on it has."""
        if result["ok"]:
            self.errors.pop(tool, None)
            return False
        error = result["error"]
        details = {k: v for k, v in error.get("details", {}).items() if k not in PASSING}
        known = self.errors.setdefault(tool, set())
        text = canonical([error["code"], error["message"], details])
        mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        again = mark in known
        known.add(mark)
        return again


def offered(specs: Iterable[ToolSpec], pins: Mapping[str, int]) -> dict[str, ToolSpec]:
    """The tools that a model is given, by model name: pinned ones, else the newest active ones.

    Raises LoopError for a pin to what is not there.
    """
    specs = tuple(specs)
    found = {spec.name: spec for spec in registry.newest(specs)}
    for name, major in pins.items():
        pinned = [spec for spec in specs if spec.name == name and spec.major == major]
        if not pinned:
            raise LoopError(f"{name} cannot be pinned to {major}: there is no such version")
        found[name] = pinned[0]
    return {spec.model_name: spec for spec in found.values()}


def names(spec: ToolSpec) -> set[str]:
    """What a model may call a tool."""
    return {spec.model_name, spec.name, spec.folder, spec.key, spec.record_prefix}


def visible_schema(spec: ToolSpec) -> dict[str, Any]:
    """The schema of what a model supplies: the tool's input without what the harness does."""
    schema = spec.input_schema
    fields = {k: v for k, v in schema["properties"].items() if k not in HARNESS}
    required = [name for name in schema.get("required", []) if name not in HARNESS]
    return {**schema, "properties": fields, "required": required}


def idempotency_key(secret: bytes, turn: int, action: int) -> str:
    """The key of one action: 64 hex digits that nobody guesses without the session's secret."""
    return hmac.new(secret, f"{turn}|{action}".encode("ascii"), hashlib.sha256).hexdigest()


def complete(spec: ToolSpec, call: Call) -> dict[str, Any]:
    """The arguments as they are sent: the model's, and what the harness supplies."""
    if not spec.mutates:
        return call.arguments
    return {**call.arguments, KEY: call.key, VERSION: spec.major}


def unknown(tools: Iterable[str]) -> Result:
    """The failure for a tool that is not offered; no tool was asked."""
    details = {"issues": [], "tools": sorted(tools)}
    error = {
        "code": "VALIDATION",
        "retryable": CODES["VALIDATION"].retryable,
        "message": "no tool of that name is offered; details list those that are",
        "details": details,
    }
    return {"ok": False, "schemaVersion": 1, "error": error}


def is_final(result: Result | None) -> bool:
    """Whether sending the call again would tell nothing new."""
    return result is not None and (result["ok"] or not result["error"]["retryable"])
