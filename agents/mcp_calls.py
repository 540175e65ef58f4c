"""What an MCP server does with a call, without any SDK: arguments in, an event out, an answer back.

The arguments are a model's. What the surface adds (`schemaVersion`, a key from the request's
`_meta`, the caller's token) is added here. Whatever goes wrong on the way is an answer with a code,
as if the tool had given it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agents.attempts import attempt
from agents.targets import unsent
from contracts import results
from contracts.dialects import mcp
from contracts.dialects.targets import KEY, VERSION
from contracts.errors import InvalidArgumentsError, ToolError, UnavailableError
from contracts.issues import issue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agents.targets import Target
    from contracts.results import Result
    from contracts.spec import ToolSpec


class NoSuchToolError(LookupError):
    """The server does not serve a tool of that name."""


@dataclass(frozen=True)
class Outcome:
    """What `tools/call` answers: the text, the same as a structure, whether it is a failure.

    A failure is text alone, the error of `contracts.results.project`: some clients hold the
    structure against the output schema, which is that of a success, and lose the error.
    """

    text: str
    structured: Result | None
    is_error: bool


def outcome(result: Result) -> Outcome:
    """A tool's result as MCP tells it."""
    projected = results.project(result)
    if projected["isError"]:
        return Outcome(_text(projected["error"]), None, is_error=True)
    return Outcome(_text(result), result, is_error=False)


def completed(
    spec: ToolSpec, arguments: Mapping[str, Any], meta: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments as the tool takes them: with its version, and the key wherever it came from.

    `meta` is the request's `_meta`; a tool that changes nothing takes no key out of it. Raises
    InvalidArgumentsError for two keys that differ.
    """
    made = dict(arguments)
    if not spec.mutates:
        return made
    given = meta.get(mcp.META_KEY, made.get(KEY))
    if KEY in made and made[KEY] != given:
        raise InvalidArgumentsError(
            f"/{KEY}: differs from {mcp.META_KEY} in the request's _meta",
            issues=[issue(f"/{KEY}", f"differs from {mcp.META_KEY}", {"type": "string"})],
        )
    if mcp.META_KEY in meta:
        made[KEY] = given
    made.setdefault(VERSION, spec.major)
    return made


class Tools:
    """The tools of one server: `specs` at `target`, called as whom `token` says.

    `token` is asked before each call and gives a caller token, or None for what the stage binds to
    direct calls; it may raise
    agents.attempts.TokenError.
    """

    def __init__(
        self,
        specs: Iterable[ToolSpec],
        target: Target,
        *,
        token: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._specs = {spec.model_name: spec for spec in specs}
        self._target = target
        self._token = token

    def documents(self) -> list[dict[str, Any]]:
        """The tools as `tools/list` shows them, by name."""
        return [mcp.emit(self._specs[name]) for name in sorted(self._specs)]

    def call(self, name: str, arguments: Mapping[str, Any], meta: Mapping[str, Any]) -> Outcome:
        """Call a tool once and wait for its answer. Raises NoSuchToolError."""
        if name not in self._specs:
            raise NoSuchToolError(name)
        spec = self._specs[name]
        try:
            result = self._result(spec, arguments, meta)
        except ToolError as error:
            result = unsent(spec, error)
        return outcome(result)

    def _result(
        self, spec: ToolSpec, arguments: Mapping[str, Any], meta: Mapping[str, Any]
    ) -> Result:
        """The tool's result, or a failure if it gave none. Raises InvalidArgumentsError."""
        sent = completed(spec, arguments, meta)
        answer = attempt(self._target, spec, sent, self._token)
        return _unanswered(spec) if answer is None else answer


def _unanswered(spec: ToolSpec) -> Result:
    """No answer says nothing of what happened, so nothing is said of the key either."""
    again = f", with the same {KEY}: it will not happen twice" if spec.mutates else ""
    message = f"no answer came; it may have happened. Repeat the identical call{again}"
    return results.failure(spec, UnavailableError(message))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
